extension MulticastCenter {
  /// Returns the latest message of a topic made with `keepsLatest: true`; nil if there is none.
  ///
  /// - Complexity: O(1).
  public func latest<Message>(of topic: Topic<Message>) -> Message? {
    guard topic.keepsLatest, let post = list(of: topic)?.latest?.current else { return nil }
    return (post as? PostOf<TopicContent>)?.content.message as? Message
  }

  /// Removes the latest message of a topic. Later observers do not receive it.
  ///
  /// - Returns: The message; nil if there was none.
  /// - Complexity: O(1).
  @discardableResult
  public func removeLatest<Message>(of topic: Topic<Message>) -> Message? {
    guard topic.keepsLatest, let latest = list(of: topic)?.latest else { return nil }
    let post = office.withLock { _ in latest.exchange(nil) }
    return (post as? PostOf<TopicContent>)?.content.message as? Message
  }
}
