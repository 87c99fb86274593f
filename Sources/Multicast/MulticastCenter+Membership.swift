import Dispatch

extension MulticastCenter {
  /// Adds a client of a listener protocol, after its other clients.
  ///
  /// <!-- example: in Client -->
  /// ```swift
  /// center.add(self, for: UserProtocol.self)
  /// ```
  ///
  /// The client is held weakly, and needs no removal. Something else must own it: a client that only
  /// `_ = Log(center)` makes ends at once. A `notify` or `post` that has begun does not call it.
  ///
  /// A client added inside an actor lives in that actor: `post` calls it there. The main actor is one of
  /// them. A client has no home if the protocol is `Sendable` and this call is not generic over it. A client that adds
  /// itself in a nonisolated `init` has no home, and is called on every thread that notifies or posts. So is
  /// a client that is an actor, unless it is added in code isolated to itself, or with `isolation:` itself: then
  /// `post` calls it there.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  ///   - isolation: The client's home. By default, the actor that this is called in.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is a client already, and keeps its place and home.
  ///   False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    withMadeDelegate(for: listener) {
      $0.add(client, isolation: isolation, fileID: fileID, line: line, column: column)
    }
  }

  /// Adds a client of a listener protocol that lives on a dispatch queue, or anywhere, after its other clients.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// let queue = DispatchQueue(label: "log")
  /// center.add(log, for: UserProtocol.self, on: queue)
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }  // calls the log on its queue
  /// ```
  ///
  /// Use a client whose class is not `Sendable` on its queue only. The compiler does not check that.
  ///
  /// Calls do not overlap, on a concurrent queue either. The main queue is the main actor. What is posted on
  /// a global queue reaches the client a little later, on that queue.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  ///   - queue: The client's home. Pass nil for a client that may be called on any thread.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is a client already, and keeps its place and home.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, on queue: DispatchQueue?,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    withMadeDelegate(for: listener) {
      $0.add(client, on: queue, fileID: fileID, line: line, column: column)
    }
  }

  /// Adds a client of a `Sendable` listener protocol, after its other clients.
  ///
  /// The client has no home. It is called on every thread that notifies or posts.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is a client already, and keeps its place.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func add<Listener: Sendable>(
    _ client: Listener, for listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(client, for: listener, on: nil, fileID: fileID, line: line, column: column)
  }

  /// Removes a client of a listener protocol. It stays a client of other protocols.
  ///
  /// After that, no new call to the client begins on this thread, and what was posted before no longer calls
  /// it. A call on another thread may still run. Safe in the client's `deinit`, and not needed there.
  ///
  /// - Returns: Whether it was a client. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func remove<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    // A value stops the program even if there are no clients.
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.remove(object: object) } ?? false
    }
  }

  /// Removes an object from this center, as a client of protocols and as an owner of handlers.
  ///
  /// Safe in the object's `deinit`, and not needed there. Releases its handlers on this thread.
  ///
  /// - Parameter client: The object. It need not be a client.
  /// - Returns: The number of its registrations. 0 while the object is being deinitialized.
  /// - Complexity: Amortized O(*p* + *n*) for *p* listener protocols and message types in use, and *n* registrations.
  @discardableResult
  public func remove(_ client: AnyObject) -> Int {
    registries.all.reduce(0) { count, registry in count + registry.removeClient(client) }
  }

  /// Removes all clients of a listener protocol. Active deliveries call no further client.
  ///
  /// - Complexity: O(*n*).
  public func removeAll<Listener>(for listener: Listener.Type) {
    _ = withDelegate(for: listener) { $0.removeAll() }
  }

  /// Removes all clients of all listener protocols, and all handlers of all topics. Releases the handlers on this thread.
  ///
  /// - Complexity: O(*n*) in the number of clients and handlers.
  public func removeAll() {
    for list in registries.all.flatMap(\.lists) { list.removeAll() }
  }

  /// Returns whether an object is a client of a listener protocol. False while it is being deinitialized.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - listener: The protocol.
  /// - Complexity: O(1).
  public func contains<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.clientList.contains(object) } ?? false
    }
  }
}
