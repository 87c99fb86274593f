extension MulticastCenter {
  /// Calls every client of a listener protocol in its home, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// See ``MulticastDelegate/post(isolation:fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients that were called or will be. 0 if the post was refused.
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
  /// See ``MulticastDelegate/post(fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients that will be called, if they live.
  /// - Complexity: O(*n*). Starts a task for each idle client.
  @discardableResult
  public func post<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    return delegate.post(fileID: fileID, line: line, column: column, body)
  }

  /// Calls every client of a listener protocol in its home, and returns after all calls.
  ///
  /// It does not wait for posts that clients make. See ``post(_:isolation:fileID:line:column:_:)``.
  ///
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

  /// Calls every client of a listener protocol in a task of its own, and returns after all calls.
  ///
  /// It does not wait for a client that itself waits for this post. See ``post(_:fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients that were to be called.
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
