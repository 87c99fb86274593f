/// The topics of one message type in a center.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var topics: [String: TopicReference] = [:]

    /// The names of the topics that an object observes, by its address. They may include those of topics that it does not
    /// observe any more.
    var observed: [UInt: Set<String>] = [:]

    /// The number of topics, or of objects, at which those that are not in use are removed.
    var limit = 16

    var count: Int { max(topics.count, observed.count) }

    /// Removes the topics that nobody but this refers to, and that nobody observes. Returns them, to release after
    /// unlocking. With the lock held, no reference can be added.
    mutating func dropUnused() -> [TopicReference] {
      var dropped: [TopicReference] = []
      for name in Array(topics.keys) where isIdle(name) && topics[name]?.isUnused() == true {
        topics.removeValue(forKey: name).map { dropped.append($0) }
      }
      for address in Array(observed.keys) { forgetTopics(of: address) }
      limit = max(16, 2 * count)
      return dropped
    }

    /// Forgets the topics that an object does not observe any more.
    mutating func forgetTopics(of address: UInt) {
      // `isIdle` is asked first: a concurrent `observe` holds the reference until its box is in the list.
      let names = observed[address]?.filter { name in
        !isIdle(name) || topics[name]?.list.hasBoxes(of: address) == true
      }
      observed[address] = names?.isEmpty == true ? nil : names
    }

    /// Whether only this table refers to a topic. A concurrent `observe` refers to it, too.
    private mutating func isIdle(_ name: String) -> Bool {
      topics.index(forKey: name).map { isKnownUniquelyReferenced(&topics.values[$0]) } ?? true
    }
  }

  /// The first topic in use. Usually it is the only one of its type. It stays as long as the center and is
  /// found without a lock.
  private let first: TopicReference

  /// The first topic's list.
  private let firstList: TopicList

  private let state = Locked(State())

  init(first: TopicList) {
    self.first = TopicReference(first)
    firstList = first
  }

  /// The list of a topic; nil if it was never observed.
  @usableFromInline
  func find(_ name: String) -> TopicList? {
    firstList.name == name ? firstList : state.withLock { $0.topics[name]?.list }
  }

  /// Refers to the list of a topic. Makes it if there is none.
  func refer<Message>(
    to topic: Topic<Message>, for owner: AnyObject?, from site: CallSite
  ) -> TopicReference {
    if firstList.name == topic.name { return first }
    if state.withLock({ $0.count >= $0.limit }) { dropUnused() }
    return state.withLock { state in
      if let owner {
        state.observed[ObjectIdentifier(owner).address, default: []].insert(topic.name)
      }
      if let reference = state.topics[topic.name] { return reference }
      let reference = TopicReference(TopicList(topic, office: firstList.office, site: site))
      state.topics[topic.name] = reference
      return reference
    }
  }

  /// The number of objects that may observe topics beside the first one.
  var observedCount: Int { state.withLock { $0.observed.count } }

  /// The lists of all topics, beginning with the first one.
  var topics: [TopicList] { [firstList] + state.withLock { $0.topics.values.map(\.list) } }

  /// Removes the topics that are not in use.
  private func dropUnused() {
    // With the lock released, because the check may release an owner last. A long list is looked through only as far as the
    // first owner that may be alive.
    var hidden: [TopicList] = []
    for list in topics {
      let boxes = list.boxes
      if boxes.count > 32, let alive = boxes.firstIndex(where: { $0.mayBeAlive }) {
        list.findDeallocated(in: Boxes(boxes[..<alive]))
      } else if !list.findDeallocated(in: boxes) {
        hidden.append(list)
      }
    }
    ClientList.findDeallocatedElsewhere(in: hidden)
    let dropped = state.withLock { state in state.dropUnused() }
    extendLifetime(dropped)
  }
}

extension TopicRegistry: ClientRegistry {
  var lists: [ClientList] { topics.sorted { $0.name < $1.name } }

  func removeClient(_ client: AnyObject) -> Int {
    let address = ObjectIdentifier(client).address
    // A deallocated object may have had the address.
    let lists = state.withLock { state in
      (state.observed[address] ?? []).compactMap { name in state.topics[name]?.list }
    }
    defer { state.withLock { $0.forgetTopics(of: address) } }
    return ([firstList] + lists).reduce(0) { count, list in count + list.removeAll(of: client) }
  }
}
