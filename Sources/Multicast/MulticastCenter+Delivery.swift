extension MulticastCenter {
  /// Calls `body` with every client of a listener protocol, in order, on this thread.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.notify(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// See ``MulticastDelegate/notify(fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*), and a few instructions without clients. Allocates nothing.
  @discardableResult
  @inlinable
  public func notify<Listener, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try withDelegate(for: listener) { (delegate) throws(Failure) in
      try delegate.notify(fileID: fileID, line: line, column: column, body)
    } ?? 0
  }

  /// Calls `body` with every client of a listener protocol and every event, client by client.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.notify(ScanProtocol.self, forEach: files) { client, file in client.found(file) }
  /// ```
  ///
  /// See ``MulticastDelegate/notify(forEach:fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n* · *m*) for *n* clients and *m* events. Allocates nothing.
  @discardableResult
  @inlinable
  public func notify<Listener, Events: Collection, Failure: Error>(
    _ listener: Listener.Type, forEach events: Events,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener, Events.Element) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try withDelegate(for: listener) { (delegate) throws(Failure) in
      try delegate.notify(forEach: events, fileID: fileID, line: line, column: column, body)
    } ?? 0
  }

  /// Asks every client of a listener protocol, and returns the answers in the order of the clients.
  ///
  /// See ``MulticastDelegate/map(fileID:line:column:_:)``.
  ///
  /// - Returns: The answers; none without clients, or if the call was a loop.
  /// - Complexity: O(*n*).
  @inlinable
  public func map<Listener, Answer, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: (Listener) throws(Failure) -> Answer
  ) throws(Failure) -> [Answer] {
    try withDelegate(for: listener) { (delegate) throws(Failure) in
      try delegate.map(fileID: fileID, line: line, column: column, transform)
    } ?? []
  }

  /// Calls and awaits `body` with every client of a listener protocol, one after the other, in order.
  ///
  /// See ``MulticastDelegate/notify(fileID:line:column:awaiting:)``.
  ///
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  nonisolated(nonsending) public func notify<Listener, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return try await delegate.notify(
      fileID: fileID, line: line, column: column, awaiting: body)
  }
}
