extension MulticastCenter {
  /// Returns the latest message of a topic made with `keepsLatest: true`; nil if there is none.
  ///
  /// While a handler is called with the latest message, this returns that message or a later one.
  ///
  /// - Complexity: O(1).
  public func latest<Message>(of topic: Topic<Message>) -> Message? {
    guard let keeper = existingList(of: topic)?.keeper else { return nil }
    return office.withLock { state in keeper.latest(&state) }?.post.message(as: Message.self)
  }

  /// Removes the latest message of a topic. Later observers do not receive it.
  ///
  /// - Returns: The message; nil if there was none, for an optional message type, too.
  /// - Complexity: O(1).
  @discardableResult
  public func removeLatest<Message>(of topic: Topic<Message>) -> Message? {
    guard let keeper = existingList(of: topic)?.keeper else { return nil }
    return office.withLock { state in keeper.replaceLatest(with: nil, &state) }?.post
      .message(as: Message.self)
  }
}

extension Post {
  /// The message of a post to a topic of this message type.
  fileprivate func message<Message>(as type: Message.Type) -> Message {
    guard let message = message as? Message else {
      fatalError("Multicast: a message of type \(Swift.type(of: message)) is kept for \(type)")
    }
    return message
  }
}
