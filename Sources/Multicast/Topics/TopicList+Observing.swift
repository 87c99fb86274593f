extension TopicAnchor {
  /// Adds a handler, or replaces the one that its owner has under the same id.
  ///
  /// - Parameters:
  ///   - id: Distinguishes handlers of one owner; nil for one that replaces none.
  ///   - home: The handler's home; nil if it has none.
  func observe(
    _ owner: AnyObject & Sendable, _ id: (any Hashable & Sendable)?, _ handler: Handler,
    at home: Home?
  ) -> TopicObservation {
    list.findSomeDead()
    let home = home ?? list.latest?.mailbox
    let box = HandlerBox(of: owner, id: id, handler, at: home)
    // Ids are compared with no lock held. If others have the key by then, this begins again, a few times: an id whose `==`
    // observes might do that for ever.
    var tries = 0
    while true {
      let known = id == nil || tries == 8 ? nil : list.boxes(with: box.key)
      let old = known?.lazy.map(\.handlerBox).first { $0.isOf(owner, id: id) }
      if let old, old.isAtHome(home),
        let version = list.replaceHandler(of: old, with: handler)
      {
        return TopicObservation(old, in: self, version: version)
      }
      switch list.place(box, beginningAmong: known, replacing: old) {
      case .added:
        old?.end()
        return TopicObservation(box, in: self, version: 0)
      case .refused:
        box.end()
        return TopicObservation(box, in: self, version: 0)
      case .changed: tries += 1
      case .full:
        if !list.makeRoom() { ClientList.findDeadElsewhere(in: [list]) }
      }
    }
  }
}

extension TopicList {
  /// Places a box if there is room. Leaves the topic's latest message for it at the same moment, so all later messages follow.
  fileprivate func place(
    _ box: HandlerBox, beginningAmong known: Boxes?, replacing old: HandlerBox?
  ) -> Placement {
    registering(box) { latest in
      let placement = place(box, among: known, replacing: old)
      return (placement, placement == .added ? latest : nil)
    }
  }

  /// Replaces the handler in a box, which keeps its place. Returns its version; nil if the observation has ended.
  ///
  /// The handler receives the messages that wait for the old one, and at least a kept one.
  fileprivate func replaceHandler(of box: HandlerBox, with handler: Handler) -> UInt32? {
    guard box.isRegistered else { return nil }
    let replacement = registering(box) { latest in
      let replacement = box.replaceHandler(with: handler, latest: unsafe latest?.number)
      return (replacement, replacement?.mustBegin == true ? latest : nil)
    }
    return replacement?.version
  }

  /// Calls `change` with the topic's latest post. The handler begins with the post that it returns.
  private func registering<Result: Sendable>(
    _ box: HandlerBox, _ change: (_ latest: Post?) -> (Result, latest: Post?)
  ) -> Result {
    guard let latest, let mailbox = box.home?.mailbox else { return change(nil).0 }
    return office.registerHandler(box, in: mailbox) { state in change(latest.post(&state)) }
  }
}
