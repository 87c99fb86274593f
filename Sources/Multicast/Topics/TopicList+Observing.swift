extension TopicAnchor {
  /// Adds a handler, or replaces the one that its owner has under the same id.
  ///
  /// - Parameters:
  ///   - id: Distinguishes handlers of one owner; nil for one that replaces none.
  ///   - home: The mailbox of the handler's home; nil if it has none.
  func observe(
    _ owner: AnyObject & Sendable, _ id: (any Hashable & Sendable)?, _ handler: TopicHandler,
    at home: Mailbox?
  ) -> TopicObservation {
    list.findSomeDead()
    let home = home ?? list.keeper?.home
    let observer =
      id.map { TopicObserverWithID($0, of: owner, handler, at: home) }
      ?? TopicObserver(of: owner, handler, at: home)
    // Ids are compared with no lock held. If others have the key by then, this begins again, a few times: an id whose `==`
    // observes might do that for ever.
    var tries = 0
    while true {
      let known = id == nil || tries == 8 ? nil : list.boxes(with: observer.key)
      let old = known?.lazy.map(\.observer).first { $0.isOf(owner, id: id) }
      if let old, old.isAtHome(home),
        let version = list.replaceHandler(of: old, with: handler)
      {
        return TopicObservation(old, in: self, version: version)
      }
      switch list.register(observer, among: known, replacing: old) {
      case .added:
        old?.end()
        return TopicObservation(observer, in: self, version: 0)
      case .refused:
        observer.end()
        return TopicObservation(observer, in: self, version: 0)
      case .changed: tries += 1
      case .full:
        if !list.makeRoom() { list.office.findDeadElsewhere(in: list, from: list.site) }
      }
    }
  }
}

extension TopicList {
  /// Places an observer if there is room. Leaves the topic's latest message for it at the same moment, so all
  /// later messages follow.
  fileprivate func register(
    _ observer: TopicObserver, among known: Boxes?, replacing old: TopicObserver?
  ) -> Placement {
    begin(observer) { latest in
      let placement = place(observer, among: known, replacing: old)
      return (placement, placement == .added ? latest : nil)
    }
  }

  /// Replaces the handler of an observer, which keeps its place. Returns its version; nil if the observer has ended.
  ///
  /// The handler receives the messages that wait for the old one, and at least a kept one.
  fileprivate func replaceHandler(
    of observer: TopicObserver, with handler: TopicHandler
  ) -> UInt32? {
    guard observer.isRegistered else { return nil }
    let replacement = begin(observer) { latest in
      let replacement = observer.replaceHandler(with: handler, latest: unsafe latest?.number)
      return (replacement, replacement?.mustBegin == true ? latest : nil)
    }
    return replacement?.version
  }

  /// Registers an observer or a handler. `place` does it, and returns the kept post that it begins with.
  private func begin<Result: Sendable>(
    _ observer: TopicObserver, _ place: (_ latest: Post?) -> (Result, Post?)
  ) -> Result {
    guard let keeper, let mailbox = observer.home else { return place(nil).0 }
    return office.begin(observer, in: mailbox) { state in place(keeper.latest(&state)) }
  }
}
