#if canImport(Dispatch) && !os(WASI)
  import Dispatch
#endif

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
/// Clients are called in the order in which they were added, each once. `notify` calls them on this thread.
/// `post` calls each one in its home, the actor or the queue in which it was added: see <doc:NotifyOrPost>.
///
/// Clients are held weakly. Something else must own them. A local variable may end with its last use.
///
/// Every method may be called from any thread, also by a client that is being called. No lock is held while a
/// client runs. <doc:TheContract> lists what you can rely on.
public final class MulticastDelegate<Listener>: Sendable {
  @usableFromInline
  let clientList = ClientList(stride: WeakBox.stride(for: Listener.self))

  @usableFromInline
  let office: PostOffice

  /// The office's. A `notify` that looked it up there would retain the office.
  @usableFromInline
  let reentrancyGuard: ReentrancyGuard

  /// The office's; nil without `onDelivery`.
  @usableFromInline
  let reporter: DeliveryReporter?

  /// The posts that are kept for later clients; nil until the first one.
  let keptPosts = AtomicLazyReference<KeptPosts>()

  /// Creates a delegate without clients.
  ///
  /// What is posted through it has an order of its own, apart from that of a center.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a nested `notify`. A negative ``ReentrancyPolicy/allow(depth:)`` stops
  ///     the program.
  ///   - onRecursion: Receives the report of each refused `notify`, and of the first `post` that is refused
  ///     among those that one call has set off. Runs on the refused call's thread, with no lock held. If nil,
  ///     each refused call site prints one report on standard error.
  ///   - onDelivery: Receives each event of every delivery, on the delivering thread, with no lock held:
  ///     see <doc:SeeingDeliveries>. If nil, nothing is measured.
  ///   - carried: A task-local value that is carried to where clients are called.
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
  /// A client added inside an actor lives in that actor: `post` calls it there. That includes the main actor,
  /// and does not hold where the compiler knows here that the protocol is `Sendable`. A client that adds
  /// itself in a nonisolated `init` has no home, and is called on every thread that notifies or posts. So is
  /// a client that is an actor.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - isolation: The actor that this is called in, which is the client's home. Leave it out.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its
  ///   place and home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(
    _ client: Listener, inheriting isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    let site = CallSite(fileID: fileID, line: line, column: column)
    let isAdded = add(client, in: isolation, at: site)
    #if DEBUG
      if isAdded, isolation == nil { noteHomeless(client, at: site) }
    #endif
    return isAdded
  }

  /// Adds a client that lives in an actor, or anywhere, at the end of the list.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - isolation: The client's home. Pass nil for a client that may be called on any thread.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its
  ///   place and home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(
    _ client: Listener, isolation: (any Actor)?,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(client, in: isolation, at: CallSite(fileID: fileID, line: line, column: column))
  }

  func add(_ client: Listener, in isolation: (any Actor)?, at site: CallSite) -> Bool {
    guard let isolation else { return add(client, in: Mailbox?.none, at: site) }
    // An actor's synchronous methods are nonisolated.
    if withObject(of: client, file: site.file, line: site.line, { clientList.isActor($0) }) {
      return add(client, in: Mailbox?.none, at: site)
    }
    return add(client, in: office.mailbox(of: isolation), at: site)
  }

  /// Adds a client that lives on a dispatch queue, at the end of the list.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - queue: The client's home. Calls do not overlap, on a concurrent queue either. The main queue is the
  ///     main actor. What is posted on a global queue reaches the client a little later, on that queue.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its
  ///   place and home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(
    _ client: Listener, on queue: DispatchQueue,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(
      client, in: office.mailbox(of: queue),
      at: CallSite(fileID: fileID, line: line, column: column))
  }

  func add(_ client: Listener, in mailbox: Mailbox?, at site: CallSite) -> Bool {
    withObject(of: client, file: site.file, line: site.line) { object in
      unsafe withUnsafePointer(to: client) { bits in
        let bits = unsafe UnsafeRawPointer(bits)
        if let isAdded = unsafe clientList.add(object, bits: bits, at: mailbox) { return isAdded }
        return unsafe addBeginning(object, bits: bits, in: mailbox)
      }
    }
  }

  /// Removes a client.
  ///
  /// After that, no new call to the client begins from this list on this thread, and what was posted before
  /// no longer calls it. A call on another thread may still run. Safe in the client's `deinit`, and not
  /// needed there.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether the client was in the list. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func remove(_ client: Listener) -> Bool {
    withObject(of: client) { object in remove(object: object) }
  }

  func remove(object: AnyObject) -> Bool {
    clientList.remove(object)
  }

  /// Removes all clients and all kept posts. Active deliveries call no further client.
  ///
  /// - Complexity: O(*n*).
  public func removeAll() {
    clientList.removeAll()
    keptPosts.load()?.removeAll()
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
        box.checkHome(of: client, as: Listener.self, in: clientList, from: nil)
      #endif
      clients.append(client)
    }
    return clients
  }

  /// The number of live clients.
  ///
  /// The list counts them, and holds each one for an instant. A client whose last owner releases it
  /// in that instant is deallocated on this thread.
  ///
  /// - Complexity: O(*n*).
  public var count: Int { clientList.countAlive() }

  /// Whether no client is alive.
  ///
  /// - Complexity: O(*n*), and O(1) if the first client is alive.
  public var isEmpty: Bool { clientList.countAlive(upTo: 1) == 0 }
}

#if DEBUG
  extension MulticastDelegate {
    /// Notes a client that was added without a home and without a word about it.
    func noteHomeless(_ client: Listener, at site: CallSite) {
      guard Place.mainActor.isCurrent(from: nil) else { return }
      withObject(of: client) { object in
        if let number = clientList.number(of: object) {
          clientList.homeless.note(number, at: "\(site)")
        }
      }
    }
  }
#endif
