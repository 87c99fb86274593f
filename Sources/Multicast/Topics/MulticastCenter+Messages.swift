extension MulticastCenter {
  /// Returns the messages of a topic as a sequence for `for await`.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// for await login in center.messages(of: .userLogin) {
  ///   show(login)
  /// }
  /// ```
  ///
  /// The stream collects messages from this call on, in the order of the posts. It begins with the latest
  /// message if the topic keeps one. Use one loop for each stream, because two loops share its messages.
  ///
  /// The loop ends, after the messages that wait, when its task is cancelled, when the topic's handlers are
  /// removed, and when the center is deallocated. The stream does not keep the center alive. It receives
  /// messages until its task is cancelled or nothing retains it. A variable that holds the stream after the
  /// loop keeps it registered.
  ///
  /// You may call this on any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic. It does not have to have handlers.
  ///   - policy: Which messages the stream keeps for its loop.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: A stream for one loop.
  /// - Complexity: Amortized O(1).
  public func messages<Message>(
    of topic: Topic<Message>,
    buffering policy: AsyncStream<Message>.Continuation.BufferingPolicy = .unbounded,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> AsyncStream<Message> {
    let (stream, continuation) = AsyncStream.makeStream(of: Message.self, bufferingPolicy: policy)
    let subscription = TopicSubscription<Message>()
    let end = MessagesEnd(continuation)
    let observation = observe(
      topic, owner: subscription, fileID: fileID, line: line, column: column
    ) { _, message in end.continuation.yield(message) }
    // The stream keeps the subscription until it is released or its task is cancelled.
    continuation.onTermination = { [subscription] _ in
      observation.cancel()
      extendLifetime(subscription)
    }
    return stream
  }
}

/// The owner of a stream's registration for a topic.
final class TopicSubscription<Message: Sendable>: LibraryOwner, Sendable {
  package static var shownType: any Any.Type { AsyncStream<Message>.self }
}

/// Finishes a stream when the handler that captures this is released.
private final class MessagesEnd<Message: Sendable>: Sendable {
  let continuation: AsyncStream<Message>.Continuation

  init(_ continuation: AsyncStream<Message>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}
