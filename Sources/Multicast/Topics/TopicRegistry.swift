/// The topics of one message type. A center has one registry for each message type.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var lists: [TopicKey: TopicList] = [:]

    /// The number of topics at which those without observers are given up.
    var limit = 16

    /// The topics that are still to be looked at, now and then, for being without observers.
    var candidates: [TopicList] = []

    /// How often a topic was looked up.
    var findings: UInt = 0

    /// A topic to look at, at every sixteenth call.
    mutating func nextCandidate() -> TopicList? {
      findings &+= 1
      guard findings.isMultiple(of: 16) else { return nil }
      if candidates.isEmpty { candidates = Array(lists.values) }
      return candidates.popLast()
    }
  }

  let message: TypeIdentity

  /// The topic that was used first. Most types of messages have no other one: it stays as long as the center,
  /// and is found without a lock.
  private let first: TopicList

  private let state = Locked(State())

  init(message: any Any.Type, first key: TopicKey, office: PostOffice) {
    self.message = TypeIdentity(message)
    first = TopicList(key, message: self.message, office: office)
  }

  /// The list of a topic; nil if nobody has observed it.
  @usableFromInline
  func find(_ key: TopicKey) -> TopicList? {
    if first.key == key { return first }
    let (list, candidate) = state.withLock { state in (state.lists[key], state.nextCandidate()) }
    // Owners end without telling anybody. So whoever uses one topic looks at another one, now and then.
    if let candidate, candidate !== list, candidate.closeIfEmpty() { forget(candidate) }
    return list
  }

  /// The list of a topic.
  func findOrMake(_ key: TopicKey) -> TopicList {
    if first.key == key { return first }
    let (list, isFull) = state.withLock { state in
      if let list = state.lists[key] { return (list, false) }
      let list = TopicList(key, message: message, office: first.office)
      state.lists[key] = list
      return (list, state.lists.count > state.limit)
    }
    if isFull { giveUpEmpty(but: list) }
    return list
  }

  /// Forgets a list that was closed: the next one that is found is another list.
  func forget(_ list: TopicList) {
    state.withLock { state in
      if state.lists[list.key] === list { state.lists[list.key] = nil }
    }
  }

  /// The lists of the topics, in no order but that the first one is the first.
  var lists: [TopicList] { [first] + state.withLock { Array($0.lists.values) } }

  /// Forgets the topics without observers, so that names that come and go leave nothing behind.
  private func giveUpEmpty(but newest: TopicList) {
    // Without the lock, since to look at an owner may run its `deinit`.
    let candidates = state.withLock { Array($0.lists.values) }
    let closed = candidates.filter { $0 !== newest && $0.closeIfEmpty() }
    state.withLock { state in
      // By the lists themselves, which are held here: another list may stand under the name by now.
      for list in closed where state.lists[list.key] === list { state.lists[list.key] = nil }
      state.limit = max(16, 2 * state.lists.count)
    }
    // Lists end here, without the lock.
    extendLifetime(candidates)
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
