/// The subscription of a sequence's first loop, which begins before the loop does.
final class UnusedSubscription<Message: Sendable>: Sendable {
  private let subscribe: @Sendable () -> TopicSubscription<Message>
  private let first: Locked<TopicSubscription<Message>?>

  init(_ subscribe: @escaping @Sendable () -> TopicSubscription<Message>) {
    self.subscribe = subscribe
    first = Locked(subscribe())
  }

  /// The subscription for a loop that begins.
  func take() -> TopicSubscription<Message> {
    let first = first.withLock { first in
      defer { first = nil }
      return first
    }
    return first ?? subscribe()
  }
}
