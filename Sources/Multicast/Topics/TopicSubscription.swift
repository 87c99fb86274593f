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

/// What ends the messages of a loop when it ends itself.
final class MessagesEnd<Message: Sendable>: Sendable {
  private let continuation: AsyncStream<Message>.Continuation

  init(_ continuation: AsyncStream<Message>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}
