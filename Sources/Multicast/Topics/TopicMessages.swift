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
