extension MulticastCenter {
  /// Calls every client of a listener protocol in a task of its own.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.postAwaiting(StoreProtocol.self) { await $0.store(19000) }
  /// ```
  ///
  /// The calls of one client do not overlap, and keep their order. Different clients are called side by side.
  /// The calls are not in order with those of `post`. A body that names an actor runs there. The protocol
  /// must be `Sendable`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that will be called, if they live.
  /// - Complexity: O(*n*). Starts a task for each idle client.
  @discardableResult
  public func postAwaiting<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return delegate.postAwaiting(fileID: fileID, line: line, column: column, body)
  }

  /// Calls every client of a listener protocol in a task of its own, and returns after all calls.
  ///
  /// It does not wait for a client that itself waits for this call. A client that is removed or deallocated
  /// before its turn is not called then. Cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that were to be called.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAwaitingAndWait<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) async -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return await delegate.postAwaitingAndWait(fileID: fileID, line: line, column: column, body)
  }
}
