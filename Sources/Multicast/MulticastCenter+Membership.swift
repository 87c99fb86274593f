import Dispatch

extension MulticastCenter {
  /// Adds a client of a listener protocol, after its other clients.
  ///
  /// <!-- example: in Client -->
  /// ```swift
  /// center.add(self, for: UserProtocol.self)
  /// ```
  ///
  /// Its home is the actor it is added in. See ``MulticastDelegate/add(_:isolation:)``.
  ///
  /// - Returns: Whether the client was added. False if it is a client already.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, isolation: (any Actor)? = #isolation
  ) -> Bool {
    withMadeDelegate(for: listener) { $0.add(client, isolation: isolation) }
  }

  /// Adds a client of a listener protocol that lives on a dispatch queue, after its other clients.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// let queue = DispatchQueue(label: "log")
  /// center.add(log, for: UserProtocol.self, on: queue)
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }  // calls the log on its queue
  /// ```
  ///
  /// See ``MulticastDelegate/add(_:on:)``.
  ///
  /// - Returns: Whether the client was added. False if it is a client already.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add<Listener>(
    _ client: Listener, for listener: Listener.Type, on queue: DispatchQueue
  ) -> Bool {
    withMadeDelegate(for: listener) { $0.add(client, on: queue) }
  }

  /// Adds a client of a `Sendable` listener protocol, after its other clients. The client has no home.
  ///
  /// - Returns: Whether the client was added. False if it is a client already.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add<Listener: Sendable>(_ client: Listener, for listener: Listener.Type) -> Bool {
    withMadeDelegate(for: listener) { $0.add(client) }
  }

  /// Removes a client of a listener protocol. It stays a client of other protocols.
  ///
  /// See ``MulticastDelegate/remove(_:)``.
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
  /// Safe in the object's `deinit`, and not needed there.
  ///
  /// - Parameter client: The object. It need not be a client.
  /// - Returns: The number of its registrations. 0 while the object is being deinitialized.
  /// - Complexity: O(*p* + *n*) for *p* listener protocols in use and *n* observers of topics.
  @discardableResult
  public func remove(_ client: AnyObject) -> Int {
    registries.all.reduce(0) { count, registry in count + registry.removeClient(client) }
  }

  /// Removes all clients of a listener protocol. See ``MulticastDelegate/removeAll()``.
  ///
  /// - Complexity: O(*n*).
  public func removeAll<Listener>(for listener: Listener.Type) {
    _ = withDelegate(for: listener) { $0.removeAll() }
  }

  /// Removes all clients of all listener protocols, and all handlers of all topics.
  ///
  /// - Complexity: O(*n*) in the number of clients and handlers.
  public func removeAll() {
    for registry in registries.all { registry.removeAll() }
  }

  /// Returns whether an object is a client of a listener protocol. See ``MulticastDelegate/contains(_:)``.
  ///
  /// - Complexity: O(1).
  public func contains<Listener>(_ client: Listener, for listener: Listener.Type) -> Bool {
    withObject(of: client) { object in
      withDelegate(for: listener) { $0.clientList.contains(object) } ?? false
    }
  }

  /// Returns the live clients of a listener protocol, in order. The array keeps them alive.
  ///
  /// - Complexity: O(*n*).
  public func clients<Listener>(for listener: Listener.Type) -> [Listener] {
    withDelegate(for: listener) { $0.clients } ?? []
  }
}
