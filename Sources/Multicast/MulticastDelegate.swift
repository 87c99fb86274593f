import Dispatch

/// The clients of one listener protocol, and the calls to all of them.
///
/// A ``MulticastCenter`` keeps one delegate for each listener protocol. A delegate is also useful as a
/// property, where a type has one kind of listener:
///
/// <!-- example: in Download -->
/// ```swift
/// final class Download {
///   let delegates = MulticastDelegate<any DownloadDelegate>()
///
///   func finish() {
///     delegates.notify { $0.downloadDidFinish(self) }
///   }
/// }
/// ```
///
/// `notify` calls every client on this thread. `post` calls each client in its home: see <doc:NotifyOrPost>.
/// Every method may be called from any thread, also by a client that is being called.
///
/// - **Order.** Clients are called in the order in which they were added, each once.
/// - **Weak.** A client is kept alive only during its own call. Something else must own it. A local variable
///   may end with its last use.
/// - **Snapshot.** A delivery calls the clients registered when it begins, except those removed or
///   deallocated before their turn. A post begins when it is made.
/// - **Free callbacks.** No lock is held while a client runs. It may also release itself, other clients, and
///   the delegate.
/// - **Home.** A client added in an actor lives there, unless the protocol is `Sendable`. A client added on a
///   queue lives on that queue. A debug build stops if a client is notified elsewhere.
/// - **Causal order.** The posts of one thread or task reach every home in their order. A post made by a
///   client that a post is calling is delivered after that post.
/// - **Loops.** A notification that would recurse forever is refused and reported: see <doc:Loops>.
///
/// <doc:TheContract> has all rules. `P` and `P & Sendable` are one key.
public final class MulticastDelegate<Listener>: Sendable {
  @usableFromInline
  let clientList = ClientList(stride: WeakBox.stride(for: Listener.self))

  @usableFromInline
  let office: PostOffice

  /// The office has it, too. A `notify` that looks it up there retains the office.
  @usableFromInline
  let reentrancyGuard: ReentrancyGuard

  /// The office has it, too. Nil without `onDelivery`.
  @usableFromInline
  let reporter: DeliveryReporter?

  /// Creates a delegate without clients.
  ///
  /// Its posts are in order with each other, and not with those of a center. The parameters are those of
  /// ``MulticastCenter/init(reentrancy:onRecursion:onDelivery:carrying:)``.
  public convenience init(
    reentrancy: ReentrancyPolicy = .refuseLoops,
    onRecursion: (@Sendable (RecursiveNotify) -> Void)? = nil,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)? = nil,
    carrying carried: CarriedValue? = nil
  ) {
    self.init(
      office: PostOffice(
        reentrancyGuard: ReentrancyGuard(policy: reentrancy, onRecursion: onRecursion),
        tracing: PostTracing(onDelivery: onDelivery, carrying: carried)))
  }

  init(office: PostOffice) {
    self.office = office
    reentrancyGuard = office.reentrancyGuard
    reporter = office.tracing?.reporter
  }
}

// MARK: - Membership

extension MulticastDelegate {
  /// Adds a client at the end of the list.
  ///
  /// The client is held weakly. Active deliveries do not call it.
  ///
  /// A client added inside an actor lives in that actor, unless the compiler knows here that the
  /// protocol is `Sendable`. A client that adds itself in a nonisolated `init` has no home. Neither
  /// has a client that is an actor.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - isolation: The client's home. Pass nil for a client that may be called on any thread.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its
  ///   place and home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(_ client: Listener, isolation: (any Actor)? = #isolation) -> Bool {
    // An actor's synchronous methods are nonisolated.
    guard let isolation, !(client is any Actor) else { return add(client, in: nil) }
    return add(client, in: office.mailbox(of: isolation))
  }

  /// Adds a client that lives on a dispatch queue, at the end of the list.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - queue: The client's home. Calls do not overlap, on a concurrent queue either. The main queue is the
  ///     main actor. A post made on a global queue calls the client a little later, on that queue.
  /// - Returns: Whether the client was added, as for ``add(_:isolation:)``.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(_ client: Listener, on queue: DispatchQueue) -> Bool {
    add(client, in: office.mailbox(of: queue))
  }

  func add(_ client: Listener, in mailbox: Mailbox?) -> Bool {
    withObject(of: client) { object in
      unsafe withUnsafePointer(to: client) { bits in
        unsafe clientList.add(object, bits: UnsafeRawPointer(bits), in: mailbox)
      }
    }
  }

  /// Removes a client.
  ///
  /// After that, no new call to the client begins from this list on this thread. A call on another thread may
  /// still run. Waiting posts do not call the client. Safe in the client's `deinit`, and not needed there.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether the client was in the list. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func remove(_ client: Listener) -> Bool {
    withObject(of: client) { object in remove(object: object) }
  }

  func remove(object: AnyObject) -> Bool {
    var wasRegistered = false
    var group: ClientGroup?
    clientList.remove(ClientKey(object)) { box in
      wasRegistered = box.isAlive
      group = box.group
    }
    group?.giveUpLettersIfEmpty(in: clientList, of: office)
    office.giveUpLane(.client(ObjectIdentifier(object).address), of: clientList)
    return wasRegistered
  }

  /// Removes all clients. Active deliveries call no further client.
  ///
  /// - Complexity: O(*n*).
  public func removeAll() {
    let groups = clientList.groups
    var identities: [UInt] = []
    clientList.removeAll { box in
      identities.append(box.identity)
      return true
    }
    for group in groups { group.giveUpLettersIfEmpty(in: clientList, of: office) }
    for identity in identities { office.giveUpLane(.client(identity), of: clientList) }
  }

  /// Returns whether a client is in the list. False while the client is being deinitialized.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Complexity: O(1).
  public func contains(_ client: Listener) -> Bool {
    withObject(of: client) { object in clientList.contains(object) }
  }

  /// The live clients, in order. The array keeps them alive.
  ///
  /// - Complexity: O(*n*).
  public var clients: [Listener] {
    var clients: [Listener] = []
    forEachClient { client, box in
      #if DEBUG
        box.checkHome(of: client, as: Listener.self, from: nil)
      #endif
      clients.append(client)
    }
    return clients
  }

  /// The number of live clients.
  ///
  /// The list counts them, and holds each one for an instant. A client whose last owner releases it
  /// in that instant ends here.
  ///
  /// - Complexity: O(*n*).
  public var count: Int { clientList.countAlive() }

  /// Whether no client is alive.
  ///
  /// - Complexity: O(*n*), and O(1) if the first client is alive.
  public var isEmpty: Bool { clientList.countAlive(upTo: 1) == 0 }
}

// MARK: - Notifying

extension MulticastDelegate {
  /// Calls `body` with every client, in order, on this thread.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.notify { $0.userLogin(19000) }
  /// ```
  ///
  /// Calls the clients registered now, except those removed or deallocated before their turn. If this call
  /// site is already delivering this list on this call stack, calls nobody and reports the loop.
  ///
  /// The first error that `body` throws ends the call. The compiler infers `any Error`, unless you write the
  /// type: `{ (client) throws(StoreError) in … }`.
  ///
  /// - Parameters:
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*), and a few instructions without clients. Allocates nothing.
  @discardableResult
  @inlinable
  public func notify<Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try deliver(from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, _) throws(Failure) in
      try body(client)
    }
  }

  /// Delivers to every client. All synchronous deliveries use this method.
  ///
  /// - Parameter body: Receives each client and its box.
  /// - Returns: The number of clients called; 0 if the guard refused.
  @inlinable
  @inline(__always)
  func deliver<Failure: Error>(
    _ way: DeliveryEvent.Way = .notify, from site: CallSite,
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    if clientList.isEmpty { return 0 }
    // Tested first, and passed in pieces, so the usual path keeps nothing of it in memory.
    if reporter != nil {
      return try deliverReporting(way, site.file, site.line, site.column, body)
    }
    var notify = ActiveDelivery(list: ObjectIdentifier(clientList), site: site)
    return unsafe try withUnsafeMutablePointer(to: &notify) { (notify) throws(Failure) -> Int in
      guard
        unsafe reentrancyGuard.enter(
          notify, list: clientList, key: { String(describing: Listener.self) })
      else { return 0 }
      defer { unsafe notify.pointee.pop() }
      return try forEachClient { (client, box) throws(Failure) in
        #if DEBUG
          box.checkHome(of: client, as: Listener.self, from: site)
        #endif
        try body(client, box)
      }
    }
  }

  /// Calls `body` with the clients of this moment that are registered and alive at their turn.
  ///
  /// - Returns: The number of calls.
  @discardableResult
  @inlinable
  @inline(__always)
  func forEachClient<Failure: Error>(
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    defer { extendLifetime(self) }
    var walk = clientList.beginWalk()
    var called = 0
    while let box = walk.next() {
      let wasCalled: Void? = try box.withClient(as: Listener.self) { (client) throws(Failure) in
        called &+= 1
        try body(client, box)
      }
      // Nil for a removed client, whose box is vacated already, and for a deallocated one.
      if wasCalled == nil { walk.noteDead(box) }
    }
    return called
  }
}
