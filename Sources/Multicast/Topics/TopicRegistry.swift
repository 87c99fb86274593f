/// The topics of one type of message, by name. A center has one for each such type.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var lists: [String: TopicList] = [:]

    /// The number of topics at which those without observers are given up.
    var limit = 16
  }

  let message: TypeIdentity

  private let state = Locked(State())
  private let reentrancyGuard: ReentrancyGuard

  init(message: any Any.Type, reentrancyGuard: ReentrancyGuard) {
    self.message = TypeIdentity(message)
    self.reentrancyGuard = reentrancyGuard
  }

  /// The list of a topic; nil if nobody has observed it.
  @usableFromInline
  func find<Message>(_ topic: Topic<Message>) -> TopicList? {
    state.withLock { $0.lists[topic.name] }
  }

  /// Adds an observer to a topic, and returns the list that it is in.
  func place<Message>(
    _ observer: TopicObserver, of owner: AnyObject, in topic: Topic<Message>
  ) -> TopicList {
    while true {
      let (list, isFull) = state.withLock { state in
        if let list = state.lists[topic.name] { return (list, false) }
        let list = TopicList(reentrancyGuard: reentrancyGuard, name: { topic.description })
        state.lists[topic.name] = list
        return (list, state.lists.count > state.limit)
      }
      if list.place(observer, of: owner) {
        if isFull { giveUpEmpty() }
        return list
      }
      // Given up meanwhile, by another thread: the next one that is found is another list.
      state.withLock { state in
        if state.lists[topic.name] === list { state.lists[topic.name] = nil }
      }
    }
  }

  /// The lists of the topics, by their names, in no order.
  var listsByName: [String: TopicList] { state.withLock { $0.lists } }

  private var lists: [TopicList] { Array(listsByName.values) }

  /// Forgets the topics without observers, so that names that come and go leave nothing behind.
  private func giveUpEmpty() {
    // Without the lock, since to look at an owner may run its `deinit`.
    let closed = lists.filter { $0.closeIfEmpty() }.map(ObjectIdentifier.init)
    let identities = Set(closed)
    let all = state.withLock { state in
      let all = state.lists
      state.lists = all.filter { !identities.contains(ObjectIdentifier($0.value)) }
      state.limit = max(16, 2 * state.lists.count)
      return all
    }
    // Lists end here, without the lock.
    extendLifetime(all)
  }
}

extension TopicRegistry: ClientRegistry {
  func removeClient(_ client: AnyObject) -> Int {
    lists.reduce(0) { count, list in count + list.removeClient(client) }
  }

  func removeAll() {
    for list in lists { list.removeAll() }
  }
}
