extension TopicList {
  /// Adds a handler, or replaces the handler that its owner has under the same id. Returns nil if the list
  /// was closed.
  ///
  /// - Parameter mailbox: The mailbox of the handler's home; nil if it has none or is awaited.
  func observe(
    owner: AnyObject & Sendable, id: TopicObserver.ID, once: Bool, _ handler: TopicHandler,
    in mailbox: Mailbox?
  ) -> TopicObservation? {
    // A handler without a home must receive the topic's latest message first.
    let observer = TopicObserver(
      owner: owner, id: id, once: once, handler: handler, mailbox: mailbox,
      beginsWithQueue: latest != nil && mailbox == nil && !handler.isAwaited)
    let key = ClientKey(observer.owner) { [owner = observer.owner] box in
      box.withCompanion(as: TopicObserver.self) { $0.owner == owner && $0.id == id } ?? false
    }
    while true {
      clientList.dropSomeDead()
      let outcome = place(observer, of: owner, for: key)
      if let leftovers = outcome.leftovers { clientList.finish(leftovers) }
      for mailbox in outcome.toBeDrained { mailbox.startDrain(of: office) }
      switch outcome.placement {
      case .added(let number):
        handleQueue(of: observer, number: number)
        handleLetters(in: mailbox)
        return TopicObservation(in: self, owner: owner, number: number, version: 0)
      case .existing(let companion):
        guard let existing = companion as? TopicObserver,
          let observation = replace(
            existing, with: observer, owner: owner, once: once, handler)
        else {
          // The observation has received its only message, or is being removed. There is nothing to replace.
          removeEnded(companion, owner: owner)
          continue
        }
        return observation
      case .refused: return TopicObservation(in: self, owner: owner, number: 0, version: 0)
      case .closed: return nil
      case nil: clientList.makeRoom()
      }
    }
  }

  /// Removes an observer that receives no more messages.
  private func removeEnded(_ companion: ClientList.Companion, owner: AnyObject) {
    guard let observer = companion as? TopicObserver, observer.handler == nil else { return }
    guard
      let registration = clientList.registration(of: companion, owner: ObjectIdentifier(owner))
    else { return }
    clientList.remove(registration)
  }

  private struct PlaceOutcome: Sendable {
    var placement: ClientList.Placement?
    var toBeDrained: [Mailbox] = []
    var leftovers: ClientList.Leftovers?
  }

  /// Places an observer if there is room. Leaves the topic's latest message for it under the same lock, so
  /// all later messages follow.
  private func place(
    _ observer: TopicObserver, of owner: AnyObject & Sendable, for key: ClientKey
  ) -> PlaceOutcome {
    guard let latest else {
      return PlaceOutcome(
        placement: clientList.place(observer, of: owner, for: key, in: observer.mailbox))
    }
    return office.withLock { state in
      var outcome = PlaceOutcome()
      (outcome.placement, outcome.leftovers) = clientList.placeIfThereIsRoom(
        observer, of: owner, for: key, in: observer.mailbox)
      if case .added(let number) = outcome.placement, let post = latest.current {
        let queued = QueuedPost(post, receipt: nil)
        if observer.mailbox == nil, !observer.isAwaited {
          observer.enqueue(queued)
        } else {
          let registration = Registration(identity: observer.owner.address, number: number)
          leave(queued, for: registration, of: observer, &state, &outcome.toBeDrained)
        }
      }
      return outcome
    }
  }

  /// Leaves a post for one observer in its home. The office's lock is held.
  ///
  /// A letter from another home keeps its number and so its place.
  private func leave(
    _ queued: QueuedPost, for registration: Registration, of observer: TopicObserver,
    _ state: inout PostOffice.State, _ toBeDrained: inout [Mailbox]
  ) {
    let mailbox =
      observer.mailbox
      ?? office.lane(observer.laneKey(of: registration, in: clientList), in: &state)
    let isNew = queued.number == 0
    let letter = Letter(
      isNew ? state.nextNumber() : queued.number, queued.post, to: .one(registration),
      receipt: queued.receipt)
    if isNew ? mailbox.put(letter) : mailbox.insert(letter) { toBeDrained.append(mailbox) }
  }

  /// Calls a handler without a home with its queue.
  private func handleQueue(of observer: TopicObserver, number: UInt64) {
    let registration = Registration(identity: observer.owner.address, number: number)
    observer.handleQueue(registration, of: clientList, in: office)
  }

  /// Handles the letters of a home if this is it.
  private func handleLetters(in mailbox: Mailbox?) {
    guard let mailbox, latest != nil, mailbox.home.isCurrent(from: nil), mailbox.enter(of: office)
    else { return }
    mailbox.leave(of: office)
  }
}

// MARK: - Replacing

extension TopicList {
  private struct Replacement: Sendable {
    /// Nil if the existing observer has ended.
    var number: UInt64?
    var version = 0
    var toBeDrained: [Mailbox] = []
    var dropped: [TopicHandler] = []

    /// Kept until the lock is released. These may be the last references.
    var kept: [QueuedPost] = []
    var leftovers: ClientList.Leftovers?
  }

  /// Replaces an observer's handler. Returns nil if the observer has ended.
  ///
  /// In the same home, the observer stays and gets the new handler, which handles the waiting messages. In
  /// another home, a new observer takes over the waiting messages under the office's lock. Each message
  /// reaches one of them, in order.
  private func replace(
    _ existing: TopicObserver, with observer: TopicObserver, owner: AnyObject & Sendable,
    once: Bool, _ handler: TopicHandler
  ) -> TopicObservation? {
    // A handler of a latest message begins anew, because an active post may have called the old one.
    let isAtHome =
      existing.mailbox === observer.mailbox && existing.isAwaited == observer.isAwaited
      && latest == nil
    if !isAtHome { clientList.prepareToReplace(existing, of: owner) }
    let replacement: Replacement? = office.withLock { state in
      guard let old = clientList.registration(of: existing, owner: existing.owner) else {
        return nil
      }
      return isAtHome
        ? exchange(handler, of: existing, old, once: once, &state)
        : move(existing, old, to: observer, owner: owner, &state)
    }
    guard let replacement else {
      // The observer was removed meanwhile, so this must finish the prepared copy.
      clientList.makeSuccessor()
      return nil
    }
    if let leftovers = replacement.leftovers { clientList.finish(leftovers) }
    guard let number = replacement.number else { return nil }
    for mailbox in replacement.toBeDrained { mailbox.startDrain(of: office) }
    handleQueue(of: isAtHome ? existing : observer, number: number)
    handleLetters(in: observer.mailbox)
    return TopicObservation(
      in: self, owner: owner, number: number, version: replacement.version)
  }

  private func exchange(
    _ handler: TopicHandler, of existing: TopicObserver, _ registration: Registration, once: Bool,
    _ state: inout PostOffice.State
  ) -> Replacement? {
    var replacement = Replacement(number: registration.number)
    guard
      let version = existing.replace(
        with: handler, once: once, droppingInto: &replacement.dropped)
    else { return nil }
    replacement.version = version
    return replacement
  }

  private func move(
    _ existing: TopicObserver, _ old: Registration, to observer: TopicObserver,
    owner: AnyObject & Sendable, _ state: inout PostOffice.State
  ) -> Replacement? {
    // Read before the replacement. A drain that reaches a letter afterwards finds no recipient and continues.
    let letters = unhandledLetters(for: old, of: existing, state)
    // Later posts that find the new observer come after those that the old one has not handled.
    if observer.mailbox == nil, !observer.isAwaited { observer.beginQueue() }
    observer.inheritLane(of: existing, old)
    let (number, leftovers) = clientList.replaceHandingOut(
      existing, with: observer, of: owner, in: observer.mailbox)
    guard let number else { return Replacement(number: nil, leftovers: leftovers) }
    var replacement = Replacement(number: number, leftovers: leftovers)
    let new = Registration(identity: old.identity, number: number)
    let (queue, last) = existing.move(to: new, droppingInto: &replacement.dropped)
    let waiting = letters.filter { $0.number > last }
    let begin = latest?.current.flatMap { post in
      let isWaiting =
        queue.contains { $0.post === post } || waiting.contains { $0.post === post }
      return isWaiting ? nil : QueuedPost(post, receipt: nil)
    }
    let all = queue + waiting + [begin].compactMap(\.self)
    if observer.mailbox == nil, !observer.isAwaited {
      for queued in all { observer.enqueue(queued) }
    } else {
      for queued in all { leave(queued, for: new, of: observer, &state, &replacement.toBeDrained) }
    }
    replacement.kept = letters
    return replacement
  }

  /// The letters for an observer that have not been handled, in order. The office's lock is held.
  private func unhandledLetters(
    for registration: Registration, of observer: TopicObserver, _ state: PostOffice.State
  ) -> [QueuedPost] {
    let lane = observer.laneKey(of: registration, in: clientList)
    guard let mailbox = observer.mailbox ?? state.existingLane(lane) else { return [] }
    return mailbox.unhandledLetters { letter in
      guard letter.isOf(clientList) else { return false }
      return switch letter.addressee {
      case .home: registration.number < letter.limit
      case .one(let other): other == registration
      case .everyone: false
      }
    }
  }
}
