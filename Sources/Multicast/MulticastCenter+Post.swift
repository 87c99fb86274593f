extension MulticastCenter {
  /// Calls every client of a listener protocol in its home, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// A client added in an actor is called there, and a client added on a queue on that queue. Other clients
  /// are called on this thread.
  ///
  /// When this returns, everybody has been called who has no home, or whose home is where this is called. What
  /// waited there came first. The others are called a little later. In a client that `post` is calling, this
  /// returns at once, and what it posts follows in every home.
  ///
  /// What one thread or task posts arrives in every home in that order, across protocols and topics.
  ///
  /// Clients of a `@MainActor` protocol are called with `postOnMain`, and clients that are awaited with
  /// `postAwaiting`. A body that names an actor, as in `{ @Storage in $0.put(1) }`, runs there for every
  /// client, and a debug build stops if one lives elsewhere.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn. Kept until all calls
  ///     are done.
  /// - Returns: The number of clients that were called or will be, if they live. 0 if the call was refused,
  ///   because one call has set off more than 1,000 recurring ones: see <doc:Loops>.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  public func post<Listener>(
    _ listener: Listener.Type, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return delegate.post(
      isolation: isolation, fileID: fileID, line: line, column: column, body)
  }

  /// Calls every client of a listener protocol in its home, in order, and returns after all calls.
  ///
  /// It does not wait for what clients post in turn. It waits until every home comes to the calls, also if the
  /// clients are removed meanwhile, who are not called then. Cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that were to be called.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait<Listener>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) async -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return await delegate.postAndWait(fileID: fileID, line: line, column: column, body)
  }
}
