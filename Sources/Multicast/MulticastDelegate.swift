import Dispatch

/// The clients of one listener protocol, and the calls to all of them.
///
/// A ``MulticastCenter`` keeps one delegate for each listener protocol. A delegate is also useful
/// alone, as a property, where a type has a single kind of listener:
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
/// ## Notify or post
///
/// `notify` calls every client here and now, on this thread. It returns when all of them have been
/// called. `post` calls every client at home: in the actor it was added in, on the queue it was
/// added on, and everybody else on the posting thread. See <doc:NotifyOrPost>.
///
/// ## What may be relied on
///
/// - **Order.** Clients are called in the order in which they were added.
/// - **Once.** A client is in the list once, however often it is added.
/// - **Weak.** A client is kept alive for the length of its own call and no longer. It is never
///   called after its end. Somebody else has to own it: a client that only a local variable holds
///   may end with the last use of that variable. What a client leaves behind in the list is
///   reclaimed by deliveries and as others are added. A list holds at most about twice the entries
///   of the most clients that were alive at once, and as much again for every notify that is under
///   way while clients come and go.
/// - **Snapshot.** A delivery calls the clients registered when it begins, except those removed or
///   deallocated before their turn. For a post, that is the moment when it is made. A client added
///   meanwhile, or removed and added again, waits for the next one.
/// - **Free callbacks.** No lock is held while a client runs. It may add, remove, notify and post,
///   and it may release itself, other clients, and the delegate.
/// - **Threads.** Every method may be called from any thread.
/// - **Home.** A client added in an actor, for a protocol that is not `Sendable`, lives in that
///   actor. A client added on a queue lives on that queue. A post calls it there. A notify may call
///   it only there, and a debug build stops where one calls it elsewhere.
/// - **Causal order.** Posts of one thread or task reach every home in their order. What is posted
///   while a client is being called by a post is delivered after that post, in every home.
/// - **Loops.** A notify that would call itself without end is refused and reported: see
///   ``ReentrancyPolicy``. A post may recur 1,000 times: see <doc:Loops>.
/// - **Isolation.** What the compiler can check, it checks. Two protocols that differ in `Sendable`
///   alone, `P` and `P & Sendable`, are one key, since this leaves no trace at run time.
public final class MulticastDelegate<Listener>: Sendable {
  @usableFromInline
  let clientList = ClientList(stride: WeakBox.stride(for: Listener.self))

  @usableFromInline
  let office: PostOffice

  /// The office's, kept here as well: a notify that looks it up there retains the office.
  @usableFromInline
  let reentrancyGuard: ReentrancyGuard

  /// The office's as well; nil if nobody wants to know.
  @usableFromInline
  let reporter: DeliveryReporter?

  /// Creates a delegate without clients.
  ///
  /// The delegate has an order of posts of its own. Only what is posted through one center, or
  /// through one delegate, is ordered.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a notify inside a notify. A negative
  ///     ``ReentrancyPolicy/allow(depth:)`` stops the program.
  ///   - onRecursion: Is called with the report of every refused notify, and of the first refused
  ///     one of the posts that a post has set off. It is called where that was made, on the same
  ///     thread, with no lock held. If nil, each call site that is refused is reported once, in one
  ///     line on standard error. So is one that is refused while `onRecursion` runs.
  ///   - onDelivery: Is called with each event of every delivery, on the thread that delivers, with
  ///     no lock held. What it notifies and posts itself is delivered and not reported, by any center,
  ///     nor is what that sets off. If nil, nothing is measured. See <doc:SeeingDeliveries>.
  ///   - carried: A task-local value that posts take along to where they are handled.
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
  /// Adds a client behind those that are in the list.
  ///
  /// The client is held weakly, so nothing has to be removed before its end. A delivery that is
  /// under way does not call it. May be called from any thread.
  ///
  /// A client added inside an actor, for a protocol that is not known here to be `Sendable`, lives
  /// in that actor: a post calls it there. A notify may call it only there, and a debug build stops
  /// where one calls it elsewhere. A client that adds itself in an `init` that is not isolated has
  /// no home. Nor has a client that is an actor: what can be called on it synchronously is not
  /// isolated.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program, since values cannot be
  ///     held weakly.
  ///   - isolation: The client's home: the actor that the caller runs in. Leave it to its default,
  ///     or pass nil for a client that may be called on any thread.
  /// - Returns: Whether the client was added: false if it is in the list already, and then it keeps
  ///   its place and its home, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func add(_ client: Listener, isolation: (any Actor)? = #isolation) -> Bool {
    // An actor looks after itself: what can be called synchronously on it is not isolated.
    guard let isolation, !(client is any Actor) else { return add(client, in: nil) }
    return add(client, in: office.mailbox(of: isolation))
  }

  /// Adds a client that lives on a dispatch queue, behind those that are in the list.
  ///
  /// A post calls the client on the queue. A notify may call it only there, and a debug build stops
  /// where one calls it elsewhere. Everything else is as in ``add(_:isolation:)``.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program, since values cannot be
  ///     held weakly.
  ///   - queue: The queue. One call follows the other, on a concurrent queue too. The main queue is
  ///     the main actor's home. A post made on a global queue calls the client a little later, on
  ///     that queue.
  /// - Returns: Whether the client was added: false if it is in the list already, and then it keeps
  ///   its place and its home, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
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
  /// No new call to it begins from this list on this thread after that, not even in a delivery that
  /// is under way. A call on another thread may be under way still. Posts that wait for the client
  /// are given up. May be called from any thread and in the client's `deinit`, where it is not
  /// needed.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether the client was in the list. False while the client is being deinitialized.
  /// - Complexity: Amortised O(1).
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

  /// Removes all clients. A delivery that is under way calls none of those it has not called yet.
  ///
  /// May be called from any thread.
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

  /// Whether a client is in the list; false for a client in its `deinit`.
  ///
  /// May be called from any thread.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Complexity: O(1).
  public func contains(_ client: Listener) -> Bool {
    withObject(of: client) { object in clientList.contains(object) }
  }

  /// The clients that are alive, in order, each held by the array from now on.
  ///
  /// May be read from any thread.
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

  /// The number of clients that are alive at this moment.
  ///
  /// They are counted, since a client ends without telling anybody. Each is held for an instant, so
  /// that one whose last owner lets go just then ends here. May be read from any thread.
  ///
  /// - Complexity: O(*n*).
  public var count: Int { clientList.countAlive() }

  /// Whether no client is alive at this moment. May be read from any thread.
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
  /// Calls the clients registered now, except those removed or deallocated before their turn. No
  /// lock is held meanwhile, and `body` may do anything. If this call site is delivering this list
  /// already, further up the call stack, nobody is called and the loop is reported.
  ///
  /// Every client is called here. To call each one at home, use
  /// ``post(isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client. The first error that it throws ends the notify, which
  ///     throws it: later clients are not called. A closure that throws an error of one type says
  ///     so, `{ (client) throws(StoreError) in … }`, or the compiler takes it for any error.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*), and without clients a few instructions. Allocates nothing.
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

  /// Delivers to every client: the one way that all synchronous deliveries take.
  ///
  /// - Parameter body: Is called with each client and its box.
  /// - Returns: The number of clients called; 0 if the guard refused.
  @inlinable
  @inline(__always)
  func deliver<Failure: Error>(
    _ way: DeliveryEvent.Way = .notify, from site: CallSite,
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    if clientList.isEmpty { return 0 }
    // Asked before anything else, and told in pieces, so that nothing has to be kept for it in memory.
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

  /// Walks over the clients of this moment that are registered and alive when their turn comes.
  ///
  /// - Returns: How many there were.
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
      // Nil for a removed client, whose box has been vacated, and for a dead one.
      if wasCalled == nil { walk.noteDead(box) }
    }
    return called
  }
}
