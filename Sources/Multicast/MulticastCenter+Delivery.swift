extension MulticastCenter {
  /// Calls `body` with every client of a listener protocol, in order, on this thread.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.notify(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// Calls the clients registered when the call begins, except those removed or deallocated before their
  /// turn. All of them must live where this is called: a debug build stops if one lives elsewhere. Use `post`
  /// then.
  ///
  /// A client may notify in turn. If it notifies from this same call site, directly or through other clients,
  /// that is a loop: the inner call calls nobody, and is reported. Two properties that notify through one
  /// function share its call site, and a client that sets one while it hears of the other loses the second
  /// change. Post instead, or let the function take its callers' `fileID`, `line` and `column`: see
  /// <doc:Loops>.
  ///
  /// The first error that `body` throws ends the call. The compiler infers `any Error`, unless you write the
  /// type: `{ (client) throws(StoreError) in … }`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*), and a few instructions without clients. Allocates nothing.
  @discardableResult @inlinable @inline(__always)
  public func notify<Listener, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    #if DEBUG
      tellOfClasses(insteadOf: listener, from: CallSite(fileID: fileID, line: line, column: column))
    #endif
    return try withDelegate(for: listener) { (delegate) throws(Failure) in
      try delegate.notify(fileID: fileID, line: line, column: column, body)
    } ?? 0
  }

  /// Asks every client of a listener protocol, and returns the answers in the order of the clients.
  ///
  /// Asks on this thread, as `notify` calls. The first error ends the call, and the answers are lost.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - transform: Returns a client's answer.
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
  /// Use it for actors and asynchronous methods. The protocol must be `Sendable`, or the methods
  /// `nonisolated(nonsending)`.
  ///
  /// `body` runs in the caller's actor and task. The first error ends the call. Cancellation does not; let
  /// `body` throw. A client is kept alive until its call returns. A loop through the same task is refused and
  /// reported. A task that a client starts is not part of the call.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*).
  @discardableResult @inlinable
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
