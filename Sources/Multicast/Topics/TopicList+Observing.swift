extension TopicList {
  /// Adds a handler, or puts it in the place of the one that its owner has under the same id.
  ///
  /// - Parameters:
  ///   - mailbox: The mailbox of the handler's home; nil if it has none, or if it is awaited.
  /// - Returns: Nil if the list has been closed.
  func observe(
    owner: AnyObject & Sendable, id: TopicObserver.ID, once: Bool, _ handler: TopicHandler,
    in mailbox: Mailbox?
  ) -> TopicObservation? {
    // Nobody may call a handler without a home before it had the message that the topic keeps.
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
          // It has had its one message, or is being removed: then there is nothing to replace.
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

  /// Removes an observer that takes no more messages, if nobody else has.
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

  /// Places an observer, if there is room. If the topic has a last message, it is left for the observer in the
  /// same moment, so that it is the first one, and every later one follows.
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

  /// Leaves a post in the home of one observer. The office's lock is held.
  ///
  /// A letter that has waited in another home has its place among the others.
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

  /// Calls a handler without a home with what has to come first.
  private func handleQueue(of observer: TopicObserver, number: UInt64) {
    let registration = Registration(identity: observer.owner.address, number: number)
    observer.handleQueue(registration, of: clientList, in: office)
  }

  /// Handles what waits in a home, if this is it.
  private func handleLetters(in mailbox: Mailbox?) {
    guard let mailbox, latest != nil, mailbox.home.isCurrent(from: nil), mailbox.enter(of: office)
    else { return }
    mailbox.leave(of: office)
  }
}

// MARK: - Replacing

extension TopicList {
  private struct Replacement: Sendable {
    /// Nil if the existing one has ended.
    var number: UInt64?
    var version = 0
    var toBeDrained: [Mailbox] = []
    var dropped: [TopicHandler] = []

    /// What may be the last references by now, and must not end with the lock held.
    var kept: [QueuedPost] = []
    var leftovers: ClientList.Leftovers?
  }

  /// Puts a handler in the place of an existing one. Returns nil if that one has ended.
  ///
  /// In the same home, the observer stays and has another handler: what waits is handled by that one. From
  /// one home to another, the new observer takes over what waits for the old one, under the office's lock, so
  /// that each message reaches one of them, and all of them in their order.
  private func replace(
    _ existing: TopicObserver, with observer: TopicObserver, owner: AnyObject & Sendable,
    once: Bool, _ handler: TopicHandler
  ) -> TopicObservation? {
    // What a topic keeps begins anew: a post that is under way may have called the old handler.
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
      // It was removed meanwhile, so that nobody else ends what has been prepared.
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
    // Looked at before: a drain that comes to a letter after the replacement finds nobody, and goes on.
    let letters = unhandledLetters(for: old, of: existing, state)
    // A post that finds the new observer from now on comes after what the old one has not handled.
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

  /// The letters for an observer that wait or are being handled, in their order. The office's lock is held.
  private func unhandledLetters(
    for registration: Registration, of observer: TopicObserver, _ state: PostOffice.State
  ) -> [QueuedPost] {
    let lane = observer.laneKey(of: registration, in: clientList)
    guard let mailbox = observer.mailbox ?? state.existingLane(lane) else { return [] }
    return mailbox.unhandledLetters { letter in
      guard unsafe letter.post.list === clientList else { return false }
      return switch letter.addressee {
      case .home: registration.number < letter.limit
      case .one(let other): other == registration
      case .everyone: false
      }
    }
  }
}

// MARK: - Removing

extension TopicList {
  /// Ends all handlers of an owner, and returns how many there were.
  func removeClient(_ client: AnyObject) -> Int {
    clientList.dropSomeDead()
    var ended = EndedObservers(in: self)
    let removed = clientList.removeAll(of: client) { box in ended.add(box) }
    ended.cancel()
    return removed
  }

  /// Ends all handlers.
  func removeAll() {
    var ended = EndedObservers(in: self)
    clientList.removeAll { box in ended.add(box) }
    ended.cancel()
  }

  /// Ends one handler.
  func cancel(_ registration: Registration) {
    var ended = EndedObservers(in: self)
    clientList.remove(registration) { box in _ = ended.add(box) }
    ended.cancel()
  }

  /// Observers that are being removed. They are cancelled without the list's lock: their handlers end then.
  private struct EndedObservers {
    let list: TopicList
    private var observers: [(TopicObserver, Registration)] = []
    private var groups: [ClientGroup] = []

    init(in list: TopicList) {
      self.list = list
    }

    mutating func add(_ box: WeakBox) -> Bool {
      if let observer = box.companion as? TopicObserver {
        observers.append((observer, box.registration))
      }
      if let group = box.group, group !== groups.last { groups.append(group) }
      return true
    }

    func cancel() {
      let clients = list.clientList
      for (observer, registration) in observers {
        observer.cancel()
        if observer.isAwaited {
          list.office.giveUpLane(observer.laneKey(of: registration, in: clients), of: clients)
        }
        observer.mailbox?.giveUpLetters(in: list.office) { letter in
          guard case .one(let other) = letter.addressee else { return false }
          return unsafe letter.post.list === clients && other.number == registration.number
        }
      }
      for group in groups { group.giveUpLettersIfEmpty(in: clients, of: list.office) }
    }
  }

  /// Calls `body` with the observers that take messages, and with their owners, which are alive. O(*n*).
  func forEachObserver(_ body: (TopicObserver, AnyObject) -> Void) {
    clientList.forEachAlive { owner, box in
      box.withCompanion(as: TopicObserver.self) { observer in
        if observer.handler != nil { body(observer, owner) }
      }
      return true
    }
  }

  /// Closes the list for good, if nobody observes. A topic that keeps its last message stays: a post may have it
  /// in hand, to keep a message in it.
  func closeIfEmpty() -> Bool { latest == nil && clientList.closeIfEmpty() }
}
