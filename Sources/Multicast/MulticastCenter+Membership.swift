#if canImport(Dispatch)
  import Dispatch
#endif

extension MulticastCenter {
  /// Adds a client of a listener protocol, in the actor in which you call this.
  ///
  /// <!-- example: in Client -->
  /// ```swift
  /// center.add(self, for: UserProtocol.self)
  /// ```
  ///
  /// The client is called after the clients that were added before. The center holds it weakly, so you do not
  /// have to remove it, but something else must own it: `_ = Log(center)` deallocates the log immediately. A
  /// `notify` or `post` that has begun does not call it.
  ///
  /// The client's *home*, where `post` calls it, is the actor in which you call this, such as the main actor.
  /// There are exceptions:
  ///
  /// - If the compiler can see at this call that the protocol is `Sendable`, the client has no home, even if
  ///   you call this on the main actor, unless you pass `isolation: #isolation`.
  /// - A client that is added in a nonisolated function has no home, even if an actor calls that function: an
  ///   `init`, an `async` function, or a method that wraps this one. Let a wrapper take
  ///   `isolation: (any Actor)? = #isolation`, and pass it on.
  /// - Where the compiler does not know the actor, the client has no home: in a closure that does not use the
  ///   surrounding actor, such as `drafts.forEach { center.add($0, for: UserProtocol.self) }`, and in the initial
  ///   value of a property, such as a `lazy var`. Pass `isolation:` there. See <doc:IsolationAndThreads>.
  /// - A client that is an actor has itself as its home if you call this in a method of its own or pass it as
  ///   `isolation`. Otherwise it has no home. The actor's `init` is nonisolated unless it is `async`.
  ///
  /// A client without a home is called on every thread that notifies or posts, and its `deinit` may run there.
  ///
  /// You may call this on any thread. In the client's `deinit`, it adds nothing.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  ///   - isolation: The client's home. By default, the actor in which you call this.
  ///   - fileID: The file of this call, for messages about the client. In a wrapper, pass your caller's.
  ///   - line: The line of this call.
  ///   - column: The column of this call.
  /// - Returns: Whether the client was added. False if it is a client already; then it keeps its position and
  ///   its home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1). O(*n*) for *n* clients if a delivery that has begun since a client was last added
  ///   still uses their list.
  @discardableResult @inlinable
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    withMadeDelegate(for: listener) {
      $0.add(client, isolation: isolation, fileID: fileID, line: line, column: column)
    }
  }

  /// Adds a client of a listener protocol that is called on a dispatch queue, or on any thread.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// let queue = DispatchQueue(label: "log")
  /// center.add(log, for: UserProtocol.self, on: queue)
  /// // Calls the log on its queue.
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// If the client's class is not `Sendable`, use the client only on its queue. The compiler does not check
  /// that.
  ///
  /// Calls do not overlap each other, even on a concurrent queue, but your own blocks on that queue run
  /// beside them. The main queue is the same home as the main actor. A post made on a global queue calls the
  /// client after `post` returns, on that queue.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  ///   - queue: The client's home. Pass nil for a client that may be called on any thread.
  ///   - fileID: The file of this call, for messages about the client. In a wrapper, pass your caller's.
  ///   - line: The line of this call.
  ///   - column: The column of this call.
  /// - Returns: Whether the client was added. False if it is a client already; then it keeps its position and
  ///   its home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1). O(*n*) for *n* clients if a delivery that has begun since a client was last added
  ///   still uses their list.
  @discardableResult @inlinable
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, on queue: DispatchQueue?,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    withMadeDelegate(for: listener) {
      $0.add(client, on: queue, fileID: fileID, line: line, column: column)
    }
  }

  /// Adds a client of a `Sendable` listener protocol, without a home.
  ///
  /// The client is called on every thread that notifies or posts, and its `deinit` may run there. To give it
  /// the actor in which you call this as its home, pass `isolation: #isolation`.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  ///   - fileID: The file of this call, for messages about the client. In a wrapper, pass your caller's.
  ///   - line: The line of this call.
  ///   - column: The column of this call.
  /// - Returns: Whether the client was added. False if it is a client already; then it keeps its position.
  ///   False while the client is being deinitialized.
  /// - Complexity: Amortized O(1). O(*n*) for *n* clients if a delivery that has begun since a client was last added
  ///   still uses their list.
  @discardableResult @inlinable
  public func add<Listener: Sendable>(
    _ client: Listener, for listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(client, for: listener, on: nil, fileID: fileID, line: line, column: column)
  }

  /// Removes a client of a listener protocol.
  ///
  /// The client stays a client of other protocols. After this returns, no new call of it begins on this
  /// thread for this protocol, not even for a post that was made before. A call that is already running on
  /// another thread finishes. You may call this in the client's `deinit`, but do not have to.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  /// - Returns: Whether it was a client. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func remove<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    // A value stops the program even if there are no clients.
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.clientList.remove(object) } ?? false
    }
  }

  /// Removes an object as a client of all protocols and as the owner of all its handlers.
  ///
  /// You may call this in the object's `deinit`, but do not have to. It releases the object's handlers on
  /// this thread.
  ///
  /// - Parameter object: The object. It does not have to be a client.
  /// - Returns: The number of registrations that were removed. 0 while the object is being deinitialized.
  /// - Complexity: Amortized O(*p* + *n*) for *p* listener protocols and message types in use, and *n*
  ///   registrations.
  @discardableResult
  public func remove(_ object: AnyObject) -> Int {
    registries.all.reduce(0) { count, registry in count + registry.removeClient(object) }
  }

  /// Removes all clients of a listener protocol. Active deliveries call no further client.
  ///
  /// - Parameter listener: The protocol.
  /// - Complexity: O(*n*) for *n* clients.
  public func removeAll<Listener>(for listener: Listener.Type) {
    _ = withDelegate(for: listener) { $0.removeAll() }
  }

  /// Removes all clients of all listener protocols, and all handlers of all topics.
  ///
  /// Active deliveries call no further client or handler. This releases the handlers on this thread. It does not
  /// remove the latest messages of topics: see ``removeLatest(of:)``.
  ///
  /// - Complexity: O(*n*) for *n* clients, handlers and protocols, and O(*t* log *t*) for *t* topics.
  public func removeAll() {
    for list in registries.all.flatMap(\.lists) { list.removeAll() }
  }

  /// Returns whether an object is a client of a listener protocol.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  /// - Returns: Whether it is a client. False while it is being deinitialized.
  /// - Complexity: O(1).
  public func contains<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.clientList.contains(object) } ?? false
    }
  }
}
