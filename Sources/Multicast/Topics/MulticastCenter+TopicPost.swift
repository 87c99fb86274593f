extension MulticastCenter {
  /// Posts a message: calls every handler of a topic at home, in the order in which they were
  /// registered.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// ```
  ///
  /// Every handler is called at home: in the actor that it was written in, in its owner if it takes
  /// that isolated, on its queue, and otherwise on this thread. The message is left for handlers
  /// whose home is elsewhere. Posts from one thread or task reach every home in their order,
  /// whatever topics and protocols they went to.
  ///
  /// A post that is made while a handler is being called by a post follows that one: it reaches
  /// every home after it, and is never nested in it. If the post is not made in such a call, all
  /// handlers without a home and all handlers that live where it is made have been called when this
  /// returns, after what waited there.
  ///
  /// The handlers registered now are called, except those that are removed before their turn. A
  /// post may set off posts from its own call site. After 1,000 of them, the next one is refused
  /// and reported.
  ///
  /// May be called from any thread, in a handler and in a `deinit`.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - message: The message.
  ///   - isolation: The actor that the caller runs in. Leave it to its default.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: The number of handlers that were called or will be, if their owners live. 0 if
  ///   nobody observes the topic, or if the post was refused.
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

  /// Posts a message to the observers of a topic, and returns when every handler has run.
  ///
  /// A handler whose owner ends, or whose observation is cancelled before its turn, is not waited
  /// for. Nor is a handler that waits itself, directly or through others, for this post to return:
  /// each would wait for the other. In a task that a handler has started, that handler is not
  /// waited for while it runs. A cancelled task goes on waiting. Everything else is as in
  /// ``post(_:_:isolation:fileID:line:column:)``.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - message: The message.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: The number of handlers that were called or will be, if their owners live. 0 if
  ///   nobody observes the topic, or if the post was refused.
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
