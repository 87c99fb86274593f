extension MulticastCenter {
  func topics<Message: Sendable>(of message: Message.Type, first: TopicKey) -> TopicRegistry {
    let place = unsafe registries.find(ObjectIdentifier(Topic<Message>.self)) {
      TopicRegistry(message: message, first: first, office: office)
    }
    return unsafe place.assumingMemoryBound(to: TopicRegistry.self).pointee
  }

  /// Returns the list of a topic; nil if it was never observed and does not keep its latest message.
  @inlinable
  func list<Message>(of topic: Topic<Message>) -> TopicList? {
    let key = ObjectIdentifier(Topic<Message>.self)
    let list = withRegistry(for: key) { (topics: TopicRegistry) in topics.find(topic.key) } ?? nil
    if list == nil, topic.keepsLatest { return makeList(of: topic) }
    return list
  }

  @usableFromInline
  func makeList<Message>(of topic: Topic<Message>) -> TopicList {
    topics(of: Message.self, first: topic.key).findOrMake(topic.key)
  }
}
