#if canImport(Dispatch)
  import Dispatch
#endif

extension MulticastCenter {
  /// Returns the entry of a topic. Makes it, with an empty list, if there is none.
  func findOrMakeEntry<Message: Sendable>(
    of topic: Topic<Message>, for owner: AnyObject? = nil, from site: CallSite
  ) -> TopicEntry {
    let registry = unsafe registries.findOrAdd(TopicRegistry.key(of: topic)) {
      TopicRegistry(first: TopicList(topic, office: office, site: site))
    }
    // A plain read, which retains the registry: an `observe` can afford that.
    let entry = unsafe registry.assumingMemoryBound(to: TopicRegistry.self).pointee
      .findOrMakeEntry(of: topic, for: owner, from: site)
    #if DEBUG
      entry.list.check(keepsLatest: topic.keepsLatest, from: site)
    #endif
    return entry
  }

  /// Returns the list of a topic; nil if the topic is not in use: see `TopicRegistry.find(_:)`.
  @inlinable
  func existingList<Message>(of topic: Topic<Message>) -> TopicList? {
    guard let registry = unsafe registries.find(TopicRegistry.key(of: topic)) else { return nil }
    defer { extendLifetime(self) }
    return unsafe registry.assumingMemoryBound(to: Borrowed<TopicRegistry>.self).pointee
      .borrow { topics in topics.find(topic.name) }
  }

  /// Returns the list of a topic to post to; nil if the topic is not in use, does not keep its latest message, and posts are
  /// not reported.
  @inlinable
  func list<Message>(of topic: Topic<Message>, from site: CallSite) -> TopicList? {
    let list = existingList(of: topic)
    #if DEBUG
      list?.check(keepsLatest: topic.keepsLatest, from: site)
      list?.isPosted.store(true, ordering: .relaxed)
      if list?.isEmpty != false { hintAtUnobserved(topic, from: site) }
    #endif
    if let list { return list }
    return topic.keepsLatest || office.isReported ? makeList(of: topic, from: site) : nil
  }

  @usableFromInline
  func makeList<Message>(of topic: Topic<Message>, from site: CallSite) -> TopicList {
    findOrMakeEntry(of: topic, from: site).list
  }

  /// Registers a handler. All public `observe` methods use this one.
  ///
  /// - Parameters:
  ///   - isolation: The actor in which the handler is called.
  ///   - queue: The queue on which it is called. Without both, it is called on the posting thread; an awaiting handler, in a task.
  @usableFromInline
  func observe<Message>(
    _ topic: Topic<Message>, _ owner: AnyObject & Sendable, _ id: (any Hashable & Sendable)?,
    once: Bool, newestOnly: Bool, at site: CallSite, _ body: Handler.Body,
    in isolation: (any Actor)? = nil, on queue: DispatchQueue? = nil
  ) -> TopicObservation {
    let home =
      switch body {
      case .awaited: office.makeMailbox(ofTaskIn: isolation)
      default: isolation.map { office.mailbox(of: $0) } ?? queue.map { office.mailbox(of: $0) }
      }
    let handler = Handler(body, once: once, newestOnly: newestOnly, at: site)
    let entry = findOrMakeEntry(of: topic, for: owner, from: site)
    #if DEBUG
      entry.list.hintAtMistakes(
        in: handler, of: owner, hasID: id != nil, at: home, from: site)
    #endif
    return entry.observe(owner, id, handler, at: home)
  }
}
