/// The owner of one loop's registration for a topic: it ends with the loop.
final class TopicSubscription<Message: Sendable>: Sendable {
  let messages: AsyncStream<Message>
  private let continuation: AsyncStream<Message>.Continuation

  init(_ buffering: MessageBuffering) {
    (messages, continuation) = AsyncStream.makeStream(
      bufferingPolicy: AsyncStream.Continuation.BufferingPolicy(buffering))
  }

  func receive(_ message: Message) {
    continuation.yield(message)
  }

  /// Ends the observation when the loop's task is cancelled, even if its iterator is kept.
  func end(_ observation: TopicObservation) {
    continuation.onTermination = { _ in observation.cancel() }
  }

  /// Ends the messages when it ends itself: with the handler that captures it.
  var end: MessagesEnd<Message> { MessagesEnd(continuation) }
}

final class MessagesEnd<Message: Sendable>: Sendable {
  private let continuation: AsyncStream<Message>.Continuation

  init(_ continuation: AsyncStream<Message>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}

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

extension AsyncStream.Continuation.BufferingPolicy {
  init(_ buffering: MessageBuffering) {
    switch buffering {
    case .unbounded: self = .unbounded
    case .newest(let count): self = .bufferingNewest(Self.checked(count))
    case .oldest(let count): self = .bufferingOldest(Self.checked(count))
    }
  }

  private static func checked(_ count: Int) -> Int {
    guard count >= 0 else {
      fatalError("Multicast: a buffer of \(count) messages is negative; use 0 or more")
    }
    return count
  }
}
