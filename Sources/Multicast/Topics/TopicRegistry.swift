/// The topics of one message type in a center.
@usableFromInline
final class TopicRegistry: Sendable {
  private struct State {
    var anchors: [String: TopicAnchor] = [:]

    /// The number of topics at which those without observers are removed.
    var limit = 16
  }

  /// The first topic in use. Usually it is the only one of its type. It stays as long as the center and is
  /// found without a lock.
  private let first: TopicAnchor

  /// The first topic's list.
  private let firstList: TopicList

  private let state = Locked(State())

  init(first: TopicList) {
    self.first = TopicAnchor(first)
    firstList = first
  }

  /// The list of a topic; nil if it was never observed.
  @usableFromInline
  func find(_ name: String) -> TopicList? {
    firstList.name == name ? firstList : state.withLock { $0.anchors[name]?.list }
  }

  /// Refers to the list of a topic. Makes it if there is none.
  func anchor<Message>(of topic: Topic<Message>, from site: CallSite) -> TopicAnchor {
    if firstList.name == topic.name { return first }
    if state.withLock({ $0.anchors.count >= $0.limit }) { dropUnused() }
    return state.withLock { state in
      if let anchor = state.anchors[topic.name] { return anchor }
      let anchor = TopicAnchor(TopicList(topic, office: firstList.office, site: site))
      state.anchors[topic.name] = anchor
      return anchor
    }
  }

  /// The lists of all topics, beginning with the first one.
  var topics: [TopicList] { [firstList] + state.withLock { $0.anchors.values.map(\.list) } }

  /// Removes the lists that nobody but this refers to, and that nobody observes. With the lock held, no reference can be
  /// added.
  private func dropUnused() {
    // With the lock released, because the check may release an owner last. A long list is looked through only as far as
    // somebody who may be alive.
    for list in topics {
      let boxes = list.boxes
      if boxes.count > 32, let alive = boxes.firstIndex(where: { $0.mayBeAlive }) {
        list.findDead(in: Boxes(boxes[..<alive]))
      } else if !list.findDead(in: boxes) {
        list.office.findDeadElsewhere(in: list, from: list.site)
      }
    }
    let dropped = state.withLock { state in
      var dropped: [TopicAnchor] = []
      for name in Array(state.anchors.keys) {
        guard let index = state.anchors.index(forKey: name),
          isKnownUniquelyReferenced(&state.anchors.values[index]),
          state.anchors.values[index].isUnused()
        else { continue }
        dropped.append(state.anchors.remove(at: index).value)
      }
      state.limit = max(16, 2 * state.anchors.count)
      return dropped
    }
    extendLifetime(dropped)
  }
}

extension TopicRegistry: ClientRegistry {
  var lists: [ClientList] { topics.sorted { $0.name < $1.name } }

  func removeClient(_ client: AnyObject) -> Int {
    topics.reduce(0) { count, list in count + list.removeAll(of: client) }
  }

  func removeAll() {
    for list in topics { list.removeAll() }
  }
}
