extension MulticastCenter {
  /// The messages of a topic, from now on, as a sequence to iterate over with `for await`.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// for await login in center.messages(of: .userLogin) { show(login) }
  /// ```
  ///
  /// The stream collects messages from the moment on that it is made, in the order of the posts. A
  /// topic made with `keepsLatest: true` begins with its last message, if it has one. A stream has
  /// one loop: two loops over the same stream share its messages.
  ///
  /// The loop ends, after the messages that it was sent, when its task is cancelled, when the
  /// topic's observers are removed, and with the center, which it does not keep alive. The
  /// registration ends with the loop, and when the stream is dropped.
  ///
  /// May be called from any thread. The loop may run in any isolation.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - policy: Which messages are kept that the loop has not come to yet.
  /// - Returns: The stream.
  public func messages<Message>(
    of topic: Topic<Message>,
    buffering policy: AsyncStream<Message>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Message> {
    let (stream, continuation) = AsyncStream.makeStream(of: Message.self, bufferingPolicy: policy)
    let subscription = TopicSubscription<Message>()
    let end = MessagesEnd(continuation)
    let observation = observe(topic, owner: subscription, id: 0) { _, message in
      end.continuation.yield(message)
    }
    // The stream keeps the subscription until it is dropped, or its task is cancelled.
    continuation.onTermination = { [subscription] _ in
      observation.cancel()
      extendLifetime(subscription)
    }
    return stream
  }
}

/// The owner of a stream's registration for a topic.
final class TopicSubscription<Message: Sendable>: Sendable {}

extension TopicSubscription: Surrogate {
  /// What a wiring shows.
  var shownType: any Any.Type { AsyncStream<Message>.self }
}

/// An owner that stands for something of the user's.
protocol Surrogate {
  var shownType: any Any.Type { get }
}

/// Ends the messages of a stream when it ends itself: with the handler that captures it.
private final class MessagesEnd<Message: Sendable>: Sendable {
  let continuation: AsyncStream<Message>.Continuation

  init(_ continuation: AsyncStream<Message>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}
