extension TopicList {
  /// Adds a handler, or replaces the one that its owner has under the same id. Returns nil if the list was
  /// closed.
  ///
  /// - Parameters:
  ///   - id: Distinguishes handlers of one owner; nil for one that replaces none.
  ///   - actor: The type of the actor that an awaited handler runs in.
  ///   - home: The mailbox of the handler's home; nil if it has none or is awaited.
  func observe(
    owner: AnyObject & Sendable, id: (any Hashable & Sendable)?, once: Bool,
    _ handler: TopicHandler,
    in actor: TypeIdentity?, at home: Mailbox?
  ) -> TopicObservation? {
    clientList.dropSomeDead()
    let mailbox = home ?? ownMailbox(of: handler, in: actor)
    let observer = TopicObserver(id: id, once: once, handler, at: mailbox)
    while true {
      // Ids are compared with no lock held. If the owner's handlers change meanwhile, this begins again.
      let known = id == nil ? nil : clientList.companions(of: owner)
      let old = id.flatMap { id in
        known?.lazy.compactMap { $0 as? TopicObserver }.first { $0.hasID(id) }
      }
      if let old, old.isAtHome(handler, at: home),
        let observation = replaceHandler(of: old, owner, with: handler, once: once)
      {
        return observation
      }
      switch place(observer, of: owner, expecting: known, replacing: old) {
      case .added(let number):
        return TopicObservation(in: clientList, owner: owner, number: number, version: 0)
      case .changed: continue
      case .refused: return TopicObservation(in: clientList, owner: owner, number: 0, version: 0)
      case .closed: return nil
      case nil: clientList.makeRoom()
      }
    }
  }

  /// The home of a handler without another one, if it needs one: its calls are awaited, or must come in order.
  private func ownMailbox(of handler: TopicHandler, in actor: TypeIdentity?) -> Mailbox? {
    if handler.isAwaited { return office.makeMailbox(ofHandlerIn: .task(client: nil, in: actor)) }
    return keeper == nil ? nil : office.makeMailbox(ofHandlerIn: .postingThread)
  }

  /// Places an observer if there is room. Leaves the topic's latest message for it at the same moment, so all
  /// later messages follow.
  private func place(
    _ observer: TopicObserver, of owner: AnyObject & Sendable,
    expecting known: [ClientList.Companion]?, replacing old: TopicObserver?
  ) -> ClientList.Placement? {
    let place = { [clientList] () -> (ClientList.Placement?, ClientList.Leftovers) in
      clientList.place(
        observer, of: owner, at: observer.mailbox, expecting: known, replacing: old)
    }
    guard let keeper, let mailbox = observer.mailbox else {
      let (placement, leftovers) = place()
      clientList.finish(leftovers)
      return placement
    }
    let (placement, leftovers) = office.begin(in: mailbox) { state in
      let (placement, leftovers) = place()
      guard case .added(let number) = placement, let latest = keeper.latest(&state) else {
        return ((placement, leftovers), [])
      }
      let registration = Registration(identity: ObjectIdentifier(owner).address, number: number)
      return ((placement, leftovers), [(mailbox, latest.letter(to: registration))])
    }
    clientList.finish(leftovers)
    return placement
  }

  /// Replaces the handler of an observer, which keeps its place. Returns nil if the observer has ended.
  ///
  /// The handler receives the messages that wait for the old one, and at least a kept one.
  private func replaceHandler(
    of observer: TopicObserver, _ owner: AnyObject & Sendable, with handler: TopicHandler,
    once: Bool
  ) -> TopicObservation? {
    guard let registration = clientList.registration(of: observer, owner: owner) else { return nil }
    let replacement: TopicObserver.Replacement?
    if let keeper, let mailbox = observer.mailbox {
      replacement = office.begin(in: mailbox) { state in
        let latest = keeper.latest(&state)
        guard
          let replacement = observer.replaceHandler(
            with: handler, once: once, latest: latest?.number)
        else { return (nil, []) }
        guard replacement.mustBegin, let latest else { return (replacement, []) }
        return (replacement, [(mailbox, latest.letter(to: registration))])
      }
    } else {
      replacement = observer.replaceHandler(with: handler, once: once, latest: nil)
    }
    return replacement.map { replacement in
      TopicObservation(
        in: clientList, owner: owner, number: registration.number, version: replacement.version)
    }
  }
}
