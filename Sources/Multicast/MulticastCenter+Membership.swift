import Dispatch

extension MulticastCenter {
  /// Adds a client of a listener protocol, behind those that it has.
  ///
  /// <!-- example: in Client -->
  /// ```swift
  /// center.add(self, for: UserProtocol.self)
  /// ```
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
  ///   - client: A class instance or an actor that conforms to the protocol. A value stops the
  ///     program, since values cannot be held weakly.
  ///   - listener: The listener protocol, as in `UserProtocol.self`.
  ///   - isolation: The client's home: the actor that the caller runs in. Leave it to its default,
  ///     or pass nil for a client that may be called on any thread.
  /// - Returns: Whether the client was added: false if it was added before, and then it keeps its
  ///   place and its home, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, isolation: (any Actor)? = #isolation
  ) -> Bool {
    withMadeDelegate(for: listener) { $0.add(client, isolation: isolation) }
  }

  /// Adds a client of a listener protocol that lives on a dispatch queue, behind those that the
  /// protocol has.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// let queue = DispatchQueue(label: "log")
  /// center.add(log, for: UserProtocol.self, on: queue)
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }  // calls the log on its queue
  /// ```
  ///
  /// A post calls the client on the queue. A notify may call it only there, and a debug build stops
  /// where one calls it elsewhere. Everything else is as in ``add(_:for:isolation:)``.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor that conforms to the protocol. A value stops the
  ///     program, since values cannot be held weakly.
  ///   - listener: The listener protocol, as in `UserProtocol.self`.
  ///   - queue: The queue. One call follows the other, on a concurrent queue too. The main queue is
  ///     the main actor's home. A post made on a global queue calls the client a little later, on
  ///     that queue.
  /// - Returns: Whether the client was added: false if it was added before, and then it keeps its
  ///   place and its home, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, on queue: DispatchQueue
  ) -> Bool {
    withMadeDelegate(for: listener) { $0.add(client, on: queue) }
  }

  /// Adds a client of a `Sendable` listener protocol, behind those that it has.
  ///
  /// The client is held weakly, so nothing has to be removed before its end. A delivery that is
  /// under way does not call it. The client has no home: a notify or a post calls it on the calling
  /// thread. May be called from any thread.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor that conforms to the protocol. A value stops the
  ///     program, since values cannot be held weakly.
  ///   - listener: The listener protocol, as in `UserProtocol.self`.
  /// - Returns: Whether the client was added: false if it was added before, and then it keeps its
  ///   place and its home, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func add<Listener: Sendable>(_ client: Listener, for listener: Listener.Type) -> Bool {
    withMadeDelegate(for: listener) { $0.add(client) }
  }

  /// Removes a client of a listener protocol.
  ///
  /// No new call to it begins from this protocol's list on this thread after that, not even in a
  /// delivery that is under way. A call on another thread may be under way still. Posts that wait
  /// for the client are given up. May be called from any thread and in the client's `deinit`, where
  /// it is not needed.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The listener protocol. The client stays a client of other ones.
  /// - Returns: Whether it was a client. False while the client is being deinitialized.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func remove<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    // A value stops the program even if nobody was ever added.
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.remove(object: object) } ?? false
    }
  }

  /// Removes an object from everything in this center: as a client of protocols, and as an owner of
  /// handlers.
  ///
  /// May be called from any thread and in the object's `deinit`, where it is not needed.
  ///
  /// - Parameter client: The object; it need not be a client.
  /// - Returns: How many registrations it had. 0 while the object is being deinitialized.
  /// - Complexity: O(*p*) in the number of listener protocols in use in this center, and O(*n*) in
  ///   the number of observers of its topics.
  @discardableResult
  public func remove(_ client: AnyObject) -> Int {
    registries.all.reduce(0) { count, registry in count + registry.removeClient(client) }
  }

  /// Removes all clients of a listener protocol.
  ///
  /// A delivery that is under way calls none of those it has not called yet. May be called from any
  /// thread.
  ///
  /// - Parameter listener: The listener protocol. Nobody need have been added for it.
  /// - Complexity: O(*n*).
  public func removeAll<Listener>(for listener: Listener.Type) {
    _ = withDelegate(for: listener) { $0.removeAll() }
  }

  /// Removes all clients of all listener protocols, and all handlers of all topics. May be called
  /// from any thread.
  ///
  /// - Complexity: O(*n*) in the number of all clients and handlers.
  public func removeAll() {
    for registry in registries.all { registry.removeAll() }
  }

  /// Whether an object is a client of a listener protocol; false for one in its `deinit`.
  ///
  /// May be called from any thread.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The listener protocol.
  /// - Complexity: O(1).
  public func contains<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.clientList.contains(object) } ?? false
    }
  }

  /// The clients of a listener protocol that are alive, in order, each held by the array from now
  /// on.
  ///
  /// May be called from any thread.
  ///
  /// - Parameter listener: The listener protocol. Nobody need have been added for it.
  /// - Complexity: O(*n*).
  public func clients<Listener>(for listener: Listener.Type) -> [Listener] {
    withDelegate(for: listener) { $0.clients } ?? []
  }
}
