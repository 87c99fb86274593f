extension MulticastCenter {
  /// Calls every handler of a topic with a message, in its home, in the order of registration.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// ```
  ///
  /// `post` calls a handler in its actor, on its queue, or else on this thread. It calls a handler that awaits
  /// in a task, after it returns.
  ///
  /// When `post` returns, it has called all handlers without a home, and those whose home is the actor or queue
  /// that you post from, after everything that was already waiting there, unless that queue is global or another
  /// thread is calling there. It calls the others after it returns. If the topic keeps its latest message and
  /// another thread is calling one of its handlers without a home, that thread, or a task after 1,000 posts,
  /// calls these handlers, perhaps after `post` has returned. If `post` is calling the handler or client that
  /// posts, this returns immediately, and what it posts follows in every home.
  ///
  /// What one thread or task posts through one center arrives in every home in that order, across protocols and
  /// topics. You may call this on any thread, in a handler, and in a `deinit`. The topic does not have to have
  /// handlers.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - message: What the handlers receive.
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: The number of handlers, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* handlers.
  @discardableResult @inlinable
  public func post<Message>(
    _ topic: Topic<Message>, _ message: Message, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Posted {
    let site = CallSite(fileID: fileID, line: line, column: column)
    guard let list = list(of: topic, from: site), list.takesPosts else { return Posted() }
    return office.post(TopicPost(to: list, from: site, message), in: isolation)
  }
}

extension MulticastCenter {
  /// Calls every handler of a topic without messages, in its home, in the order of registration.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.logout)  // a Topic<Void>
  /// ```
  ///
  /// It does what `post(.logout, ())` does.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: The number of handlers, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* handlers.
  @discardableResult @inlinable
  public func post(
    _ topic: Topic<Void>, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Posted {
    post(topic, (), isolation: isolation, fileID: fileID, line: line, column: column)
  }
}

// MARK: - The latest message

extension MulticastCenter {
  /// Returns the latest message of a topic made with `keepsLatest: true`.
  ///
  /// While a handler is called with the latest message, this returns that message or a later one, unless the
  /// message has been removed. What a listener posts during a call of `post` becomes the latest message after that
  /// call. You may call this on any thread.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: The message; nil if there is none. If the message type is optional, `if let` finds a message
  ///   even if that is nil.
  /// - Complexity: O(1).
  public func latest<Message>(of topic: Topic<Message>) -> Message? {
    existingList(of: topic)?.latestPost?.message(as: Message.self)
  }

  /// Removes the latest message of a topic, so that handlers that observe later do not receive it.
  ///
  /// It also withdraws posts that this thread has made and that wait to become the latest. It does not
  /// withdraw posts of other threads. You may call it on any thread, even in a handler.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: The message; nil if there was none. If the message type is optional, `if let` finds a message
  ///   even if that is nil.
  /// - Complexity: O(1), and O(*n*) in the number of posts of this thread that wait for their turn, and, if it
  ///   withdraws any, in the number of handlers.
  @discardableResult
  public func removeLatest<Message>(of topic: Topic<Message>) -> Message? {
    existingList(of: topic)?.removeLatest()?.message(as: Message.self)
  }
}

extension Post {
  /// The message of a post to a topic of this message type.
  fileprivate func message<Message: Sendable>(as type: Message.Type) -> Message {
    unsafe unsafeDowncast(self, to: TopicPost<Message>.self).message
  }
}
