extension MulticastCenter {
  /// Calls `body` with every client of a listener protocol, in order, on this thread.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.notify(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// Calls the clients registered now, except those removed or deallocated before their turn. No
  /// lock is held meanwhile, and `body` may do anything. If this call site is delivering to this
  /// protocol already, further up the call stack, nobody is called and the loop is reported.
  ///
  /// Every client is called here. To call each one at home, use
  /// ``post(_:isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client. The first error that it throws ends the notify, which
  ///     throws it: later clients are not called.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*), and without clients a few instructions. Allocates nothing.
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

  /// Calls `body` with every client of a listener protocol and every event: the first client with
  /// all events in their order, then the second one, and so on.
  ///
  /// Much cheaper than a notify for each event, because each client is looked up once. Use it where
  /// clients only have to see events in their order, not to keep step with each other.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.notify(ScanProtocol.self, forEach: files) { client, file in client.found(file) }
  /// ```
  ///
  /// A client that is removed gets no further events, even in the middle of its own; one whose
  /// other owners release it in the middle gets the rest of them. Everything else is as in
  /// ``notify(_:fileID:line:column:_:)``, and the batch counts as one notify.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - events: The events. Without any, every client is counted as called.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client and each event. The first error that it throws ends the
  ///     batch, which throws it.
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
  /// <!-- example: in Program -->
  /// ```swift
  /// let mayClose = center.map(DocumentProtocol.self) { $0.mayClose() }.allSatisfy { $0 }
  /// ```
  ///
  /// Everything else is as in ``notify(_:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Is called with each client. The first error that it throws ends the call, which
  ///     throws it, and the answers so far are lost.
  /// - Returns: The answers; none if there is no client, or if this was a loop and refused.
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

  /// Calls and awaits `body` with every client of a listener protocol, one after the other, in
  /// order: for actors, and for protocols with asynchronous methods.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// await center.notify(StoreProtocol.self, awaiting: { await $0.store(19000) })
  /// ```
  ///
  /// The compiler lets a client's asynchronous method be called here if the protocol is `Sendable`,
  /// as that of actors is, or if the method is `nonisolated(nonsending)`.
  ///
  /// It runs where its caller runs: in the caller's actor, if there is one, and in its task, with
  /// its priority and its cancellation. A cancelled task goes on calling clients; to end early, let
  /// `body` throw. A client that is waited for is kept alive until its call returns.
  ///
  /// Calls the clients registered now, except those removed or deallocated before their turn. If
  /// this call site is delivering to this protocol already, in the same task, nobody is called and
  /// the loop is reported. A task that a client starts is not part of the call: it may notify
  /// again.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called and awaited with each client. The first error that it throws ends the
  ///     notify, which throws it: later clients are not called.
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
