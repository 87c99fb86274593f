/// The topics of one message type in a center.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var lists: [TopicKey: TopicList] = [:]

    /// The number of topics at which those without observers are removed.
    var limit = 16

    /// The topics that are still to be checked for observers.
    var candidates: [TopicList] = []

    var findings: UInt = 0

    /// Every sixteenth call, returns a topic to check.
    mutating func nextCandidate() -> TopicList? {
      findings &+= 1
      guard findings.isMultiple(of: 16) else { return nil }
      if candidates.isEmpty { candidates = Array(lists.values) }
      return candidates.popLast()
    }
  }

  let message: TypeIdentity

  /// The first topic in use. Usually it is the only one of its type. It stays as long as the center and is
  /// found without a lock.
  private let first: TopicList

  private let state = Locked(State())

  init(message: any Any.Type, first key: TopicKey, office: PostOffice) {
    self.message = TypeIdentity(message)
    first = TopicList(key, message: self.message, office: office)
  }

  /// The list of a topic; nil if it was never observed.
  @usableFromInline
  func find(_ key: TopicKey) -> TopicList? {
    if first.key == key { return first }
    let (list, candidate) = state.withLock { state in (state.lists[key], state.nextCandidate()) }
    // The end of an owner is not reported. So lookups of one topic check another one now and then.
    if let candidate, candidate !== list, candidate.closeIfEmpty() { forget(candidate) }
    return list
  }

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

  /// Removes a closed list, so the next lookup makes another one.
  func forget(_ list: TopicList) {
    state.withLock { state in
      if state.lists[list.key] === list { state.lists[list.key] = nil }
    }
  }

  /// The lists of all topics, beginning with the first one.
  var lists: [TopicList] { [first] + state.withLock { Array($0.lists.values) } }

  /// Removes the topics without observers, so changing names do not use more and more memory.
  private func giveUpEmpty(but newest: TopicList) {
    // With the lock released, because the check may release an owner last.
    let candidates = state.withLock { Array($0.lists.values) }
    let closed = candidates.filter { $0 !== newest && $0.closeIfEmpty() }
    state.withLock { state in
      // Compares lists, because the name may belong to another list by now.
      for list in closed where state.lists[list.key] === list { state.lists[list.key] = nil }
      state.limit = max(16, 2 * state.lists.count)
    }
    // Releases lists with the lock released.
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
