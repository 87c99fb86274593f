/// The messages of a topic, as a sequence to iterate over with `for await`.
///
/// <!-- example: in Observer -->
/// ```swift
/// for await login in center.messages(of: .userLogin) { show(login) }
/// ```
///
/// Messages are collected from the moment on that the sequence is made. The first loop gets these and
/// the ones to come; every further loop over the same sequence collects from the moment it begins. Each
/// loop gets every message once, in the order of the posts.
///
/// A registration ends when its loop is left, when the loop's task is cancelled, when the iterator is
/// dropped, and when a sequence that nobody iterates over is dropped. A loop ends, after the messages it
/// has been sent, when its task is cancelled, when the topic's observers are removed, and with the
/// center.
public struct TopicMessages<Message: Sendable>: AsyncSequence, Sendable {
  /// An iterator over the messages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var messages: AsyncStream<Message>.Iterator

    /// Ends the registration when the iterator is dropped.
    private let subscription: TopicSubscription<Message>

    init(_ subscription: TopicSubscription<Message>) {
      messages = subscription.messages.makeAsyncIterator()
      self.subscription = subscription
    }

    /// The next message; nil when the loop is to end.
    public mutating func next() async -> Message? {
      await messages.next()
    }

    /// The next message; nil when the loop is to end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
      await messages.next(isolation: actor)
    }
  }

  private let unused: UnusedSubscription<Message>

  init(_ subscribe: @escaping @Sendable () -> TopicSubscription<Message>) {
    unused = UnusedSubscription(subscribe)
  }

  /// Begins a loop.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(unused.take())
  }
}

/// How messages are kept that a loop has not come to yet.
public enum MessageBuffering: Hashable, Sendable {
  /// All are kept.
  case unbounded

  /// This many of the newest are kept, and older ones are dropped. A negative number stops the program.
  case newest(Int)

  /// This many of the oldest are kept, and newer ones are dropped. A negative number stops the program.
  case oldest(Int)
}

extension MulticastCenter {
  /// The messages of a topic, from now on.
  ///
  /// May be called from any thread. The loop may run in any isolation.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - buffering: How messages are kept that a loop has not come to yet.
  /// - Returns: A sequence whose loops end when their task is cancelled.
  public func messages<Message>(
    of topic: Topic<Message>, buffering: MessageBuffering = .unbounded
  ) -> TopicMessages<Message> {
    // The center is held weakly: a loop that waits does not keep it alive.
    let subscribe: @Sendable () -> TopicSubscription<Message> = { [weak self] in
      let subscription = TopicSubscription<Message>(buffering)
      let end = subscription.end
      let observation = self?.observe(topic, owner: subscription) { subscription, message in
        subscription.receive(message)
        extendLifetime(end)
      }
      if let observation { subscription.end(observation) }
      return subscription
    }
    return TopicMessages(subscribe)
  }
}
