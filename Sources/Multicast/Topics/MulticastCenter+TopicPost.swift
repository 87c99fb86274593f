extension MulticastCenter {
  /// Calls every handler of a topic in its home, in the order of registration.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// ```
  ///
  /// The rules are those of ``MulticastDelegate/post(isolation:fileID:line:column:_:)``. Handlers are in one
  /// order with the clients of protocols. May be called from any thread, in a handler, and in a `deinit`. The
  /// topic need not have observers.
  ///
  /// - Returns: The number of handlers that were called or will be, if their owners live. 0 if the post was
  ///   refused.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  public func post<Message>(
    _ topic: Topic<Message>, _ message: Message, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Int {
    guard let list = list(of: topic) else { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return ErasedMessage.lend(message) { erased in
      list.post(erased, isolation: isolation, from: site) {
        TopicContent(message: message)
      }
    }
  }

  /// Calls every handler of a topic in its home, and returns after all calls.
  ///
  /// It does not wait for a handler that is removed, or whose owner ends, before its turn. Nor does
  /// it wait for a handler that itself waits for this post, or that has started the calling task
  /// and still runs. Cancellation does not end the wait.
  ///
  /// - Returns: The number of handlers that were to be called. 0 if the post was refused.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait<Message>(
    _ topic: Topic<Message>, _ message: Message,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) async -> Int {
    guard let list = list(of: topic) else { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return await list.postAndWait(message, from: site)
  }
}
