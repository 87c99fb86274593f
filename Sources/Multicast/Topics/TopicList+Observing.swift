extension TopicEntry {
  /// Adds a handler, or replaces the one that its owner has registered with the same id.
  ///
  /// - Parameters:
  ///   - id: Distinguishes the handlers of one owner; nil for a handler that replaces none.
  ///   - home: The handler's home; nil if it has none.
  func observe(
    _ owner: AnyObject & Sendable, _ id: (any Hashable & Sendable)?, _ handler: Handler,
    at home: Home?
  ) -> TopicObservation {
    list.removeDeallocatedIfShort()
    // A topic that keeps its latest message calls its handlers in one order, so those without a home share one.
    let home = home ?? list.latestStore?.mailbox
    let box = HandlerBox(of: owner, id: id, handler, at: home)
    // Without an id, `known` and `old` are nil, and this registers the box as soon as there is room.
    //
    // With one, it compares ids with no lock held, because the `==` of an id is client code. `register` returns `changed` if
    // another call has registered one with the same hash meanwhile. Then this compares again. It needs no limit: whenever one
    // call begins again, another one has registered its handler. A limit would have to register the box beside one that was not
    // compared, and both handlers would be called.
    while true {
      let known = id == nil ? nil : list.boxes(withID: box.idHash)
      let old = known?.lazy.map(\.handlerBox).first { $0.isOf(owner, id: id) }
      if let old, old.hasSameHome(as: home),
        let version = list.replaceHandler(of: old, with: handler)
      {
        return TopicObservation(old, in: self, version: version)
      }
      switch list.registerWithLatest(box, among: known, replacing: old) {
      case .full:
        list.office.makeRoom(in: list)
        continue
      case .changed: continue
      case .registered: if let old { list.finishReplacement(of: old) }
      case .refused: box.releaseContents()
      }
      return TopicObservation(box, in: self, version: 0)
    }
  }
}

extension TopicList {
  /// Registers a box if there is room. Leaves it the topic's latest message in the same critical section, so that it receives
  /// that message and then every later one.
  fileprivate func registerWithLatest(
    _ box: HandlerBox, among known: Boxes?, replacing old: HandlerBox?
  ) -> Registration {
    guard let latestStore, let mailbox = box.home?.mailbox else {
      return register(box, among: known, replacing: old)
    }
    return office.beginWithLatest(box, in: mailbox) { state in
      let registration = register(box, among: known, replacing: old)
      return (registration, registration == .registered ? latestStore.storedPost(&state) : nil)
    }
  }

  /// Replaces the handler in a box, which stays where it is in the order. Returns the version of the new handler; nil if the
  /// registration has ended.
  ///
  /// The new handler receives the messages that wait for the old one. If the topic has stored a message, it receives at least
  /// that one.
  fileprivate func replaceHandler(of box: HandlerBox, with handler: Handler) -> UInt32? {
    guard box.isRegistered else { return nil }
    guard let latestStore, let mailbox = box.home?.mailbox else {
      return box.replaceHandler(with: handler, storedNumber: nil)?.version
    }
    let replacement = office.beginWithLatest(box, in: mailbox) { state in
      let stored = latestStore.storedPost(&state)
      let replacement = box.replaceHandler(with: handler, storedNumber: unsafe stored?.number)
      return (replacement, replacement?.mustReceiveLatest == true ? stored : nil)
    }
    return replacement?.version
  }
}
