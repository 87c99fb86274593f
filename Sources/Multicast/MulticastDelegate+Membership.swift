#if canImport(Dispatch)
  import Dispatch
#endif

extension MulticastDelegate {
  /// Adds a client, in the actor in which you call this.
  ///
  /// <!-- example: in Delegation -->
  /// ```swift
  /// final class Player {
  ///   let delegates = MulticastDelegate<any PlayerDelegate>()
  /// }
  /// final class Log: PlayerDelegate {
  ///   init(_ player: Player) { player.delegates.add(self) }
  ///   func playerDidStop(_ player: Player) {}
  ///   func playerMayStop(_ player: Player) -> Bool { true }
  /// }
  /// ```
  ///
  /// The client is called after the clients that were added before. The delegate holds it weakly, so
  /// something else must own it. A `notify` or `post` that has begun does not call it.
  ///
  /// The client's *home*, where `post` calls it, is the actor in which you call this, such as the main actor.
  /// If the compiler can see at this call that the protocol is `Sendable`, the client has no home, even if you
  /// call this on the main actor, unless you pass `isolation: #isolation`. A client that is added in a
  /// nonisolated function has no home, even if an actor calls that function: an `init`, an `async` function, or
  /// a method that wraps this one. Let a wrapper take `isolation: (any Actor)? = #isolation`, and pass it on. A
  /// client that is added in a closure which does not use the surrounding actor, or in the initial value of a
  /// property, has no home either, unless you pass `isolation:`: see <doc:IsolationAndThreads>. A client that
  /// is an actor has itself as its home if you call this in a method of its own or pass it as `isolation`, and
  /// otherwise none. The actor's `init` is nonisolated unless it is `async`. A client without a home is called
  /// on every thread that notifies or posts, and its `deinit` may run there.
  ///
  /// You may call this on any thread. In the client's `deinit`, it adds nothing.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - isolation: The client's home. By default, the actor in which you call this.
  ///   - fileID: The file of this call, for messages about the client. In a wrapper, pass your caller's.
  ///   - line: The line of this call.
  ///   - column: The column of this call.
  /// - Returns: Whether the client was added. False if it is a client already; then it keeps its position and
  ///   its home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1). O(*n*) for *n* clients if a delivery that has begun since a client was last added
  ///   still uses their list.
  @discardableResult @inlinable
  public func add(
    _ client: Listener, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return add(client, in: isolation, on: nil, at: site, isHomeGiven: isolation != nil)
  }

  /// Adds a client that is called on a dispatch queue, or on any thread.
  ///
  /// Calls do not overlap each other, even on a concurrent queue, but your own blocks on that queue run
  /// beside them. The main queue is the same home as the main actor. A post made on a global queue calls the
  /// client after `post` returns, on that queue.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - queue: The client's home. Pass nil for a client that may be called on any thread.
  ///   - fileID: The file of this call, for messages about the client. In a wrapper, pass your caller's.
  ///   - line: The line of this call.
  ///   - column: The column of this call.
  /// - Returns: Whether the client was added. False if it is a client already; then it keeps its position and
  ///   its home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1). O(*n*) for *n* clients if a delivery that has begun since a client was last added
  ///   still uses their list.
  @discardableResult @inlinable
  public func add(
    _ client: Listener, on queue: DispatchQueue?,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return add(client, in: nil, on: queue, at: site, isHomeGiven: true)
  }

  /// Adds a client in a home. Reports name the client by the call site.
  ///
  /// - Parameter isHomeGiven: For debug builds: whether the caller has named a home, or said that there is none. Otherwise they
  ///   print a hint if the client was added in an actor or on the main thread, and is called elsewhere.
  @inlinable
  func add(
    _ client: Listener, in isolation: (any Actor)?, on queue: DispatchQueue?, at site: CallSite,
    isHomeGiven: Bool
  ) -> Bool {
    withObject(of: client, file: site.file, line: site.line) { object in
      addBox(
        ClientBox(client, object, at: home(of: object, in: isolation, on: queue)), at: site,
        isHomeGiven: isHomeGiven)
    }
  }

  /// Registers a box, unless its client is registered already. The other parameters are for debug builds.
  @usableFromInline
  func addBox(_ box: WeakBox, at site: CallSite, isHomeGiven: Bool) -> Bool {
    #if DEBUG
      if !isHomeGiven { box.addWithoutHome = AddWithoutHome(at: site) }
    #endif
    while true {
      let registration = clientList.register(box)
      if registration != .full { return registration == .registered }
      office.makeRoom(in: clientList)
    }
  }

  /// Returns the home of a client that is added in an actor or for a queue; nil if it has none.
  @usableFromInline
  func home(
    of client: AnyObject, in isolation: (any Actor)?, on queue: DispatchQueue?
  ) -> Home? {
    if let queue { return office.mailbox(of: queue) }
    guard let isolation else { return nil }
    // An actor that was added in another actor has no home, because its isolated methods cannot be called there. In its own
    // isolation, it is its own home.
    if isolation !== client, isActor(client) { return nil }
    return office.mailbox(of: isolation)
  }

  /// Whether a client is an actor.
  ///
  /// This stores the answer for the class of the last client, because a dynamic cast takes longer than the rest of an `add`.
  /// Class and answer are one value, so no thread reads the one without the other, and relaxed ordering is enough. The answer
  /// is in the lowest bit of the address of the class, which is otherwise 0.
  private func isActor(_ client: AnyObject) -> Bool {
    let type = ObjectIdentifier(Swift.type(of: client)).address
    let known = recentClass.load(ordering: .relaxed)
    if known & ~1 == type { return known & 1 == 1 }
    let answer = client is any Actor
    recentClass.store(type | (answer ? 1 : 0), ordering: .relaxed)
    return answer
  }

  /// Removes a client.
  ///
  /// After this returns, no new call of the client begins on this thread from this delegate, not even for a
  /// post that was made before. A call that is already running on another thread finishes. You may call this
  /// in the client's `deinit`, but do not have to.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether it was a client. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func remove(_ client: Listener) -> Bool {
    withObject(of: client) { object in clientList.remove(object) }
  }

  /// Removes all clients. Active deliveries call no further client.
  ///
  /// - Complexity: O(*n*) for *n* clients.
  public func removeAll() { clientList.removeAll() }

  /// Returns whether an object is a client.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether it is a client. False while the client is being deinitialized.
  /// - Complexity: O(1).
  public func contains(_ client: Listener) -> Bool {
    withObject(of: client) { object in clientList.contains(object) }
  }

  /// The clients that are alive, in order. The array keeps them alive.
  ///
  /// Read this in the home of all of them: a debug build stops if a client that is not an actor has another home.
  ///
  /// - Complexity: O(*n*) for *n* clients.
  public var clients: [Listener] {
    var clients: [Listener] = []
    forEachClient { client, box in
      #if DEBUG
        box.checkHome(as: Listener.self, from: nil)
      #endif
      clients.append(client)
    }
    return clients
  }

  /// The number of clients that are alive.
  ///
  /// It is exact for clients without a home, and for those whose home is where you read it. Each of these is
  /// retained for an instant, and deallocated here if its last owner releases it in that instant. A client
  /// with another home is not touched. It counts until its home has noticed that it is deallocated: with the
  /// next post, or when clients are added and the list looks for deallocated ones before it grows.
  ///
  /// - Complexity: O(*n*) for *n* clients.
  public var count: Int {
    clientList.removeDeallocated(in: clientList.boxes)
    return clientList.boxes.registered
  }

  /// Whether no client is alive. It includes the same clients as ``count``.
  ///
  /// - Complexity: O(*n*) for *n* clients, and O(1) if the client that was added first is still a client, and alive.
  public var isEmpty: Bool { !clientList.boxes.contains { box in box.mayBeAlive } }
}

extension MulticastDelegate where Listener: Sendable {
  /// Adds a client without a home, because the listener protocol is `Sendable`.
  ///
  /// The client is called on every thread that notifies or posts, and its `deinit` may run there. To give it
  /// the actor in which you call this as its home, pass `isolation: #isolation`.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - fileID: The file of this call, for messages about the client. In a wrapper, pass your caller's.
  ///   - line: The line of this call.
  ///   - column: The column of this call.
  /// - Returns: Whether the client was added. False if it is a client already; then it keeps its position.
  ///   False while the client is being deinitialized.
  /// - Complexity: Amortized O(1). O(*n*) for *n* clients if a delivery that has begun since a client was last added
  ///   still uses their list.
  @discardableResult @inlinable
  public func add(
    _ client: Listener,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(client, on: nil, fileID: fileID, line: line, column: column)
  }
}
