extension MulticastCenter {
  /// The topics of a type of message; they are made if there are none yet.
  func topics<Message: Sendable>(of message: Message.Type) -> TopicRegistry {
    let place = unsafe registries.find(ObjectIdentifier(Topic<Message>.self)) {
      TopicRegistry(message: message, reentrancyGuard: reentrancyGuard)
    }
    return unsafe place.assumingMemoryBound(to: TopicRegistry.self).pointee
  }

  /// The list of a topic; nil if nobody has observed it.
  @inlinable
  func list<Message>(of topic: Topic<Message>) -> TopicList? {
    let key = ObjectIdentifier(Topic<Message>.self)
    return withRegistry(for: key) { (topics: TopicRegistry) in topics.find(topic) } ?? nil
  }
}
