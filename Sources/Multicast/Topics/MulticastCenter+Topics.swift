extension MulticastCenter {
  func topics<Message: Sendable>(
    of message: Message.Type, first topic: Topic<Message>, from site: CallSite
  ) -> TopicRegistry {
    let place = unsafe registries.find(ObjectIdentifier(Topic<Message>.self)) {
      TopicRegistry(
        message: message, first: topic.name, keepsLatest: topic.keepsLatest, office: office,
        site: site)
    }
    return unsafe place.assumingMemoryBound(to: TopicRegistry.self).pointee
  }

  /// Returns the list of a topic; nil if it was never used.
  @inlinable
  func existingList<Message>(of topic: Topic<Message>) -> TopicList? {
    let key = ObjectIdentifier(Topic<Message>.self)
    return withRegistry(for: key) { (topics: TopicRegistry) in topics.find(topic.name) } ?? nil
  }

  /// Returns the list of a topic to post to; nil if it was never observed and does not keep its latest message.
  @inlinable
  func list<Message>(of topic: Topic<Message>, from site: CallSite) -> TopicList? {
    let list = existingList(of: topic)
    if list == nil, topic.keepsLatest { return makeList(of: topic, from: site) }
    #if DEBUG
      list?.check(keepsLatest: topic.keepsLatest, from: site)
      if list == nil { hint(at: topic, from: site) }
    #endif
    return list
  }

  /// In debug builds, tells once of a topic that was never observed and is named almost like one that is.
  @usableFromInline
  func hint<Message>(at topic: Topic<Message>, from site: CallSite) {
    #if DEBUG
      let key = ObjectIdentifier(Topic<Message>.self)
      _ = withRegistry(for: key) { (topics: TopicRegistry) in topics.hint(topic.name, from: site) }
    #endif
  }

  @usableFromInline
  func makeList<Message>(of topic: Topic<Message>, from site: CallSite) -> TopicList {
    topics(of: Message.self, first: topic, from: site)
      .findOrMake(topic.name, keepsLatest: topic.keepsLatest, from: site)
  }

  /// Forgets a closed list, so the next lookup makes another one.
  @usableFromInline
  func forget<Message>(_ list: TopicList, of topic: Topic<Message>, from site: CallSite) {
    topics(of: Message.self, first: topic, from: site).forget(list)
  }
}
