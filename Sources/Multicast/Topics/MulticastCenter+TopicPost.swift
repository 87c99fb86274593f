extension MulticastCenter {
  /// Posts a message to the observers of a topic, in the order in which they began to observe.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// ```
  ///
  /// Handlers that run on the posting thread, or in the actor that the post is made in, have run when this
  /// returns; the message is left for the others. Observers that are added meanwhile wait for the next
  /// post. If this very call site is posting to this topic already, further up the call stack, nobody
  /// gets the message and the loop is reported.
  ///
  /// May be called from any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - message: The message.
  ///   - isolation: The actor that the caller runs in; leave it to its default.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: The number of handlers that were called or that the message was left for; 0 if nobody
  ///   observes the topic, or if this was a loop and refused.
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
        TopicContent(message: message, clients: list.clientList)
      }
    }
  }

  /// Posts a message to the observers of a topic, and returns when every handler has run.
  ///
  /// A handler whose owner ends, or whose observation is cancelled before its turn, is not waited for. Nor
  /// is one that waits itself, directly or through others, for this post to return: each would wait for
  /// the other. In a task that a handler has started, that handler is not waited for while it runs. A
  /// cancelled task goes on waiting. Everything else is as in
  /// ``post(_:_:isolation:fileID:line:column:)``.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - message: The message.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: The number of handlers that were called or that the message was left for; 0 if nobody
  ///   observes the topic, or if this was a loop and refused.
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
