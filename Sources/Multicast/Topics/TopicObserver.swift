/// What a topic keeps for one handler: the companion of its owner in the topic's list.
final class TopicObserver<Message: Sendable>: Sendable {
  /// The owner's identity, by which it is found. The address alone: it says nothing of life.
  let owner: ObjectIdentifier
  let id: (any Hashable & Sendable)?
  let status = ObservationStatus()

  private let handler: TopicHandler<Message>
  private let endsAfterOne: Bool

  /// For handlers that run elsewhere. A direct one has neither of the two.
  private let mailbox: Mailbox<Message>?
  private weak let lateOwner: (AnyObject & Sendable)?

  init(
    owner: AnyObject & Sendable, id: (any Hashable & Sendable)?, once: Bool,
    handler: TopicHandler<Message>
  ) {
    self.owner = ObjectIdentifier(owner)
    self.id = id
    self.handler = handler
    endsAfterOne = once
    if case .direct = handler {
      mailbox = nil
      lateOwner = nil
    } else {
      mailbox = Mailbox()
      lateOwner = owner
    }
  }

  /// Whether this is the handler of an owner under an id.
  func isKept(by owner: ObjectIdentifier, under id: (any Hashable & Sendable)?) -> Bool {
    guard self.owner == owner else { return false }
    switch (self.id, id) {
    case (nil, nil): return true
    case (let own?, let other?): return AnyHashable(own) == AnyHashable(other)
    default: return false
    }
  }
}

// MARK: - Receiving

extension TopicObserver {
  /// What became of a message.
  enum Reception {
    /// The handler was called, or will be.
    case taken

    /// The handler was called, or will be, for the last time.
    case takenAsLast

    /// The observation has ended.
    case refused
  }

  /// Calls the handler, or leaves the message for it where it runs.
  ///
  /// - Parameters:
  ///   - owner: The owner, which is alive.
  ///   - isolation: The actor that the post was written in.
  ///   - receipt: What is to be held until the message has been handled.
  func receive(
    _ message: Message, owner: AnyObject, isolation: (any Actor)?, receipt: Receipt?
  ) -> Reception {
    if endsAfterOne {
      guard status.close() else { return .refused }
    } else {
      guard status.isActive else { return .refused }
    }
    deliver(message, owner: owner, isolation: isolation, receipt: receipt)
    return endsAfterOne ? .takenAsLast : .taken
  }

  private func deliver(
    _ message: Message, owner: AnyObject, isolation: (any Actor)?, receipt: Receipt?
  ) {
    guard let mailbox else {
      if case .direct(let call) = handler { call(owner, message) }
      return
    }
    let isWaitedForInVain = receipt?.waiting.contains(ObjectIdentifier(self)) ?? false
    let letter = Mailbox.Letter(message: message, receipt: isWaitedForInVain ? nil : receipt)
    if case .isolated(let actor, let call) = handler, actor.isCurrent(from: isolation) {
      callHere(call, owner, letter, mailbox)
    } else if mailbox.put(letter) {
      drain(mailbox)
    }
  }

  /// Calls the handler in the actor that it belongs to, which is the current one, behind the messages
  /// that came from elsewhere before.
  private func callHere(
    _ call: TopicHandler<Message>.Call, _ owner: AnyObject, _ letter: Mailbox<Message>.Letter,
    _ mailbox: Mailbox<Message>
  ) {
    let waiting = mailbox.putUnlessEmpty(letter)
    guard waiting > 0 else { return call(owner, letter.message) }
    for _ in 0..<waiting {
      // A handler that posts has delivered some of them itself.
      guard let letter = mailbox.pop() else { return }
      handle(letter, call)
    }
  }
}

// MARK: - Handling elsewhere

extension TopicObserver {
  /// How many messages an actor handles before it lets others have a turn.
  private static var turn: Int { 100 }

  private func drain(_ mailbox: Mailbox<Message>) {
    switch handler {
    case .direct: return
    case .isolated(let actor, let call):
      Task { await handleAll(in: mailbox, call, isolation: actor) }
    case .queued(let queue, let call):
      queue.async { [self] in
        while let letter = mailbox.next() { handle(letter, call) }
      }
    case .awaited(let call):
      Task { await handleAll(in: mailbox, awaiting: call) }
    }
  }

  /// The owner, if a letter is to be handled still.
  private var ownerOfLetters: (AnyObject & Sendable)? { status.isCancelled ? nil : lateOwner }

  private func handle(_ letter: Mailbox<Message>.Letter, _ call: TopicHandler<Message>.Call) {
    if let owner = ownerOfLetters { call(owner, letter.message) }
    extendLifetime(letter.receipt)
  }

  private func handleAll(
    in mailbox: Mailbox<Message>, _ call: TopicHandler<Message>.Call, isolation: isolated any Actor
  ) async {
    // A letter is taken out and handled without a suspension between, so that a post in this actor
    // cannot overtake it.
    var handled = 0
    while let letter = mailbox.next() {
      handle(letter, call)
      handled += 1
      if handled % Self.turn == 0 { await Task.yield() }
    }
  }

  private func handleAll(
    in mailbox: Mailbox<Message>, awaiting call: @Sendable (AnyObject, Message) async -> Void
  ) async {
    while let letter = mailbox.next() {
      guard let owner = ownerOfLetters else { continue }
      let waiting = (letter.receipt?.waiting ?? []) + [ObjectIdentifier(self)]
      await Receipt.$waiting.withValue(waiting) { await call(owner, letter.message) }
      extendLifetime(letter.receipt)
    }
  }
}
