/// The topics of one message type in a center.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var lists: [String: TopicList] = [:]

    /// The number of topics at which those without observers are removed.
    var limit = 16

    /// The topics that are still to be checked for observers.
    var candidates: [TopicList] = []

    var findings: UInt = 0
    #if DEBUG
      /// The names that a message has told of.
      var hinted: Set<String> = []
    #endif

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

  init(
    message: any Any.Type, first name: String, keepsLatest: Bool, office: PostOffice, site: CallSite
  ) {
    self.message = TypeIdentity(message)
    first = TopicList(
      name, keepsLatest: keepsLatest, message: self.message, office: office, site: site)
  }

  /// The list of a topic; nil if it was never observed.
  @usableFromInline
  func find(_ name: String) -> TopicList? {
    if first.name == name { return first }
    let (list, candidate) = state.withLock { state in (state.lists[name], state.nextCandidate()) }
    // The end of an owner is not reported. So lookups of one topic check another one now and then.
    if let candidate, candidate !== list, candidate.closeIfEmpty() { forget(candidate) }
    return list
  }

  func findOrMake(_ name: String, keepsLatest: Bool, from site: CallSite) -> TopicList {
    if first.name == name { return first }
    let (list, isFull) = state.withLock { state in
      if let list = state.lists[name] { return (list, false) }
      let list = TopicList(
        name, keepsLatest: keepsLatest, message: message, office: first.office, site: site)
      state.lists[name] = list
      return (list, state.lists.count > state.limit)
    }
    if isFull { giveUpEmpty(but: list) }
    return list
  }

  /// Removes a closed list, so the next lookup makes another one.
  func forget(_ list: TopicList) {
    state.withLock { state in
      if state.lists[list.name] === list { state.lists[list.name] = nil }
    }
  }

  /// The lists of all topics, beginning with the first one.
  var topics: [TopicList] { [first] + state.withLock { Array($0.lists.values) } }

  /// Removes the topics without observers, so changing names do not use more and more memory.
  private func giveUpEmpty(but newest: TopicList) {
    // With the lock released, because the check may release an owner last.
    let candidates = state.withLock { Array($0.lists.values) }
    let closed = candidates.filter { $0 !== newest && $0.closeIfEmpty() }
    state.withLock { state in
      // Compares lists, because the name may belong to another list by now.
      for list in closed where state.lists[list.name] === list { state.lists[list.name] = nil }
      state.limit = max(16, 2 * state.lists.count)
    }
    // Releases lists with the lock released.
    extendLifetime(candidates)
  }
}

#if DEBUG
  extension TopicRegistry {
    /// Tells once of a name that nobody observes, if another one that differs in a letter or in case is observed.
    func hint(_ name: String, from site: CallSite) {
      let similar = topics.first { list in
        // Another thread may have observed the topic itself by now.
        list.name != name && list.name.isSimilar(to: name)
          && list.clientList.countAlive(upTo: 1) > 0
      }
      guard let similar, state.withLock({ $0.hinted.insert(name).inserted }) else { return }
      StandardError.print(
        """
        Multicast: nobody has observed the topic \(String(reflecting: name)) with messages of type \(message.type), \
        posted to at \(site), but \(String(reflecting: similar.name)) is observed, since \(similar.site). If they \
        are the same topic, declare it once.
        """)
    }
  }

  extension String {
    /// Whether texts differ in case only, or in one letter: one more, one less, or another one.
    fileprivate func isSimilar(to other: String) -> Bool {
      let (one, other) = (Array(lowercased()), Array(other.lowercased()))
      if one == other { return true }
      guard abs(one.count - other.count) <= 1 else { return false }
      let start = zip(one, other).prefix { $0 == $1 }.count
      let end = min(one.count, other.count) - start
      return zip(one.reversed(), other.reversed()).prefix(end).prefix { $0 == $1 }.count
        >= max(one.count, other.count) - start - 1
    }
  }
#endif

extension TopicRegistry: ClientRegistry {
  func removeClient(_ client: AnyObject) -> Int {
    topics.reduce(0) { count, list in count + list.removeClient(client) }
  }

  func removeAll() {
    for list in topics { _ = list.removeAllHandlers() }
  }
}
