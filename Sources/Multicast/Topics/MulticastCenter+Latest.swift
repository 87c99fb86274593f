extension MulticastCenter {
  /// The last message of a topic that keeps it; nil if there is none, or if the topic does not keep
  /// it.
  ///
  /// May be called from any thread.
  ///
  /// - Parameter topic: A topic made with `keepsLatest: true`.
  /// - Complexity: O(1).
  public func latest<Message>(of topic: Topic<Message>) -> Message? {
    guard topic.keepsLatest, let post = list(of: topic)?.latest?.current else { return nil }
    return (post as? PostOf<TopicContent>)?.content.message as? Message
  }

  /// Forgets the last message of a topic, which those who observe later then do not get.
  ///
  /// May be called from any thread.
  ///
  /// - Parameter topic: A topic made with `keepsLatest: true`. Any other has no last message.
  /// - Returns: The message; nil if there was none.
  /// - Complexity: O(1).
  @discardableResult
  public func removeLatest<Message>(of topic: Topic<Message>) -> Message? {
    guard topic.keepsLatest, let latest = list(of: topic)?.latest else { return nil }
    let post = office.withLock { _ in latest.exchange(nil) }
    return (post as? PostOf<TopicContent>)?.content.message as? Message
  }
}
