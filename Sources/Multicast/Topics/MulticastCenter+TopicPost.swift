extension MulticastCenter {
  /// Calls every handler of a topic in its home, in the order of registration.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// ```
  ///
  /// A handler is called in the actor in which it was written, on its queue, or else on this thread. When this
  /// returns, handlers without a home and handlers whose home is here have been called, after what waited here before.
  /// The others are called a little later. So are those without a home of a topic that keeps its latest message, while
  /// another thread calls one of them. In a handler or client that `post` is calling, it returns at once, and
  /// what it posts follows in every home.
  ///
  /// What one thread or task posts arrives in every home in that order, across protocols and topics. May be
  /// called from any thread, in a handler, and in a `deinit`. The topic need not have observers.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - message: What the handlers receive.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  /// - Returns: The number of handlers, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*).
  @discardableResult @inlinable
  public func post<Message>(
    _ topic: Topic<Message>, _ message: Message, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Posted {
    let site = CallSite(fileID: fileID, line: line, column: column)
    guard let list = list(of: topic, from: site), list.concernsSomebody else { return Posted() }
    return office.post(TopicPost(to: list, from: site, message), from: isolation)
  }
}

extension MulticastCenter {
  /// Calls every handler of a topic without messages in its home, in the order of registration.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.logout)  // a Topic<Void>
  /// ```
  ///
  /// Does what `post(.logout, ())` does.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  /// - Returns: The number of handlers, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*).
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
  /// Returns the latest message of a topic made with `keepsLatest: true`; nil if there is none.
  ///
  /// While a handler is called with the latest message, this returns that message or a later one.
  ///
  /// - Complexity: O(1).
  public func latest<Message>(of topic: Topic<Message>) -> Message? {
    existingList(of: topic)?.latestPost?.message(as: Message.self)
  }

  /// Removes the latest message of a topic. Later observers do not receive it.
  ///
  /// - Returns: The message; nil if there was none, for an optional message type, too.
  /// - Complexity: O(1).
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
