/// The topics of one message type in a center, by name.
///
/// A thread that holds its lock may take that of a list: see ``PostOffice`` for all locks.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var topics: [String: TopicEntry] = [:]

    /// The names of the topics, without the first one, that an object observes, by the object's address. They may include
    /// topics that it no longer observes, and the object may be deallocated.
    ///
    /// Without them, `remove(_:)` would look for the object in every topic.
    var observed: [UInt: Set<String>] = [:]

    /// The number of these names, for all objects together.
    private(set) var names = 0

    /// The number of topics or names at which unused ones are removed. After a removal, it is the number that is left, plus the
    /// number of topics, names or handlers that the next removal has to look at. So an `observe` takes amortized O(1).
    var limit = 16

    var count: Int { max(topics.count, names) }

    /// Notes that an object is about to observe a topic.
    mutating func note(_ name: String, of address: UInt) {
      if observed[address, default: []].insert(name).inserted { names += 1 }
    }

    /// Removes the topics that only this table refers to and that have no handlers. Returns them: release them after unlocking.
    /// With the lock held, no other reference can be added, except by a token, which only ends a registration.
    ///
    /// - Parameter searched: The number of handlers for which searches in other homes have begun.
    mutating func dropUnused(afterSearchesFor searched: Int) -> [TopicEntry] {
      var dropped: [TopicEntry] = []
      for name in Array(topics.keys) where isIdle(name) && topics[name]?.isUnused() == true {
        topics.removeValue(forKey: name).map { dropped.append($0) }
      }
      for address in Array(observed.keys) { forgetTopics(of: address) }
      limit = max(16, count + max(count, searched))
      return dropped
    }

    /// Forgets the topics that an object no longer observes.
    mutating func forgetTopics(of address: UInt) {
      // Check `isIdle` first. An `observe` in progress holds the topic until its handler is in the list, so a topic that is
      // idle here has no registration still to come.
      let old = observed.removeValue(forKey: address) ?? []
      var left: Set<String> = []
      for name in old where !isIdle(name) || topics[name]?.list.hasBoxes(of: address) == true {
        left.insert(name)
      }
      names -= old.count - left.count
      if !left.isEmpty { observed[address] = left }
    }

    /// Whether only this table refers to a topic, and no `observe` in progress does.
    private mutating func isIdle(_ name: String) -> Bool {
      topics.index(forKey: name).map { isKnownUniquelyReferenced(&topics.values[$0]) } ?? true
    }
  }

  /// The first topic in use. Usually it is the only one of its type. It stays as long as the center, so it is found without the
  /// lock.
  private let first: TopicEntry

  /// The list of `first`, which each post looks at. A list that the entry returns would be retained.
  private let firstList: TopicList

  private let state = Locked(State())

  /// A type that stands for the topics of a message type. It is not `Topic<Message>`, because a program may pass
  /// `Topic<Message>.self` as a listener, and one table finds delegates and topics.
  @usableFromInline enum Topics<Message> {}

  @inlinable
  static func key<Message>(of topic: Topic<Message>) -> ObjectIdentifier {
    ObjectIdentifier(Topics<Message>.self)
  }

  init(first: TopicList) {
    self.first = TopicEntry(first)
    firstList = first
  }

  /// Returns the list of a topic; nil if the topic is not in use.
  @usableFromInline
  func find(_ name: String) -> TopicList? {
    firstList.name == name ? firstList : state.withLock { $0.topics[name]?.list }
  }

  /// Returns the entry of a topic. Makes it, with an empty list, if there is none.
  ///
  /// Hold the result until the handler is in the list, so that the topic is not removed as unused in between.
  ///
  /// - Parameter owner: The object that is about to observe the topic; nil if no object is.
  func findOrMakeEntry<Message>(
    of topic: Topic<Message>, for owner: AnyObject?, from site: CallSite
  ) -> TopicEntry {
    if firstList.name == topic.name { return first }
    if state.withLock({ $0.count >= $0.limit }) { dropUnused() }
    return state.withLock { state in
      if let owner { state.note(topic.name, of: ObjectIdentifier(owner).address) }
      if let entry = state.topics[topic.name] { return entry }
      let entry = TopicEntry(TopicList(topic, office: firstList.office, site: site))
      state.topics[topic.name] = entry
      return entry
    }
  }

  /// The number of names that ``State/observed`` contains, for the tests.
  var observedNames: Int { state.withLock { $0.names } }

  /// The lists of all topics, beginning with the first one.
  var topicLists: [TopicList] { [firstList] + state.withLock { $0.topics.values.map(\.list) } }

  /// Removes the topics that are not in use. Call this with no lock held.
  private func dropUnused() {
    // Handlers whose owners are deallocated keep a topic in use, so they are removed first. This is done without the lock,
    // because a search may destroy an owner. A long list is searched only up to the first owner that is alive or may be. An owner
    // that is alive keeps the topic in use anyway, and if the owner's home is elsewhere, only that home can find out. The first
    // topic stays in any case.
    var searched = 0
    for list in state.withLock({ state in state.topics.values.map(\.list) }) {
      let boxes = list.boxes
      let isLong = boxes.count > ClientList.largestCountToSearch
      let alive = isLong ? boxes.firstIndex { box in box.mayBeAlive } : nil
      let mayLoadAlive = alive.map { boxes[$0].mayBeLoaded } ?? true
      let mayLoadOthers = list.removeDeallocated(in: Boxes(boxes[..<(alive ?? boxes.count)]))
      if mayLoadAlive && mayLoadOthers { continue }
      list.office.removeDeallocatedElsewhere(in: list)
      searched += list.boxes.count
    }
    _ = state.withLock { [searched] state in state.dropUnused(afterSearchesFor: searched) }
  }
}

extension TopicRegistry: ClientRegistry {
  var lists: [ClientList] { topicLists.sorted { $0.name < $1.name } }

  func removeClient(_ client: AnyObject) -> Int {
    let address = ObjectIdentifier(client).address
    // Some may be topics of a deallocated object that had the same address. There, `removeAll` ends what is left of that
    // object, and counts nothing.
    let lists = state.withLock { state in
      (state.observed[address] ?? []).compactMap { name in state.topics[name]?.list }
    }
    defer { state.withLock { $0.forgetTopics(of: address) } }
    return ([firstList] + lists).reduce(0) { count, list in count + list.removeAll(of: client) }
  }
}
