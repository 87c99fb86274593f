extension MulticastCenter {
  /// Calls every client of a listener protocol at home, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// A client that was added in an actor is called in that actor. A client that was added on a
  /// queue is called on that queue. Any other client is called on this thread. The rest is said in
  /// ``MulticastDelegate/post(isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. It need not have any clients.
  ///   - isolation: The actor that the caller runs in. Leave it to its default.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client, and kept until every client has been called.
  /// - Returns: The number of clients that were called or will be, if they live. 0 if the post was
  ///   refused.
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

  /// Calls every client of a listener protocol in a task of its own.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(StoreProtocol.self) { await $0.store(19000) }
  /// ```
  ///
  /// The calls of one client follow each other, in the order of the posts. Different clients are
  /// called side by side. The rest is said in ``MulticastDelegate/post(fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. It need not have any clients.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called and awaited with each client, and kept until every call has returned.
  /// - Returns: The number of clients that will be called, if they live.
  /// - Complexity: O(*n*). Starts a task for each client that has nothing to do.
  @discardableResult
  public func post<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return delegate.post(fileID: fileID, line: line, column: column, body)
  }

  /// Calls every client of a listener protocol at home, in order, and returns when every client has
  /// been called.
  ///
  /// A client that is removed or deallocated before its turn is not waited for. A cancelled task
  /// goes on waiting. Everything else is as in ``post(_:isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. It need not have any clients.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client.
  /// - Returns: The number of clients that were called or were to be, if they lived.
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

  /// Calls every client of a listener protocol in a task of its own, and returns when every call
  /// has returned.
  ///
  /// A client that is removed or deallocated before its turn is not waited for. Nor is a client
  /// that waits itself, directly or through others, for this post to return: each would wait for
  /// the other. A cancelled task goes on waiting. Everything else is as in
  /// ``post(_:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The listener protocol. It need not have any clients.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called and awaited with each client.
  /// - Returns: The number of clients that were to be called, if they lived.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) async -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return await delegate.postAndWait(fileID: fileID, line: line, column: column, body)
  }
}
