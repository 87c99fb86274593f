/// What a topic keeps for one handler: the companion of its owner in the topic's list.
///
/// This one calls its handler on the thread that posts. ``LateObserver`` is for all others.
class TopicObserver: @unchecked Sendable {
  // Unchecked, because a class that is not final cannot be checked. All it has is constant, and of Sendable
  // types: the status is atomic, the surroundings have a lock, the handler is a `@Sendable` closure. What
  // its one subclass adds is proved there.

  /// The owner's identity, by which it is found. The address alone: it says nothing of life.
  final let owner: ObjectIdentifier
  final let id: (any Hashable & Sendable)?
  final let status = ObservationStatus()

  private let endsAfterOne: Bool
  private let isLate: Bool

  /// The observer that this one has replaced, as long as messages wait for it, the one that has replaced
  /// this one, and the list that this one is in.
  private struct Surroundings {
    weak var predecessor: TopicObserver?
    var successor: TopicObserver?
    weak var list: TopicList?
  }

  private let surroundings = Locked(Surroundings())

  /// The handler, lent at each call: a closure that is loaded to be called is retained.
  private let call: Borrowed<TopicHandler.Call>

  /// - Parameter call: The handler; nil in a subclass that overrides ``deliver(_:owner:isolation:receipt:)``.
  init(
    owner: AnyObject & Sendable, id: (any Hashable & Sendable)?, once: Bool,
    call: TopicHandler.Call?
  ) {
    self.owner = ObjectIdentifier(owner)
    self.id = id
    endsAfterOne = once
    isLate = call == nil
    self.call = Borrowed(call ?? { _, _ in })
  }

  /// Sees to it that the handler of a subclass is called.
  func deliver(
    _ message: ErasedMessage, owner: AnyObject, isolation: (any Actor)?, receipt: Receipt?
  ) {}

  /// Gives up the messages that wait for the handler. Not with a lock held: this ends them.
  func giveUpLetters() {}

  /// Where the handler runs.
  var isolation: HandlerIsolation { .postingThread }
}

// MARK: - Ending

extension TopicObserver {
  /// Called before the observer has its place in a list: once it has, its message may come at once.
  final func willBePlaced(in list: TopicList) {
    surroundings.withLock { $0.list = list }
  }

  /// Called when the observer has taken the place of another one.
  final func hasReplaced(_ predecessor: TopicObserver) {
    predecessor.surroundings.withLock { $0.successor = self }
    predecessor.status.close()
    // Whoever drains it keeps it, so that it is there as long as it has something to give up.
    surroundings.withLock { $0.predecessor = predecessor }
  }

  /// The observer that has taken this one's place, and whose turn it is where a post under way meets this
  /// one.
  final var replacement: TopicObserver? {
    var last: TopicObserver?
    while let next = (last ?? self).surroundings.withLock({ $0.successor }) { last = next }
    return last
  }

  /// Ends this observation, and those that it has replaced: no handler of them begins any more.
  ///
  /// Not with a lock held.
  final func cancel() {
    var next = Optional(self)
    while let observer = next {
      observer.status.cancel()
      observer.giveUpLetters()
      next = observer.surroundings.withLock { $0.predecessor }
    }
  }

  /// Leaves the list when the one message has been handled that was to be. Until then, whoever removes
  /// the owner must find the observer, and give the message up.
  final func leaveAfterOne() {
    guard endsAfterOne else { return }
    surroundings.withLock { $0.list }?.remove(self)
  }
}

extension TopicObserver {
  /// What became of a message.
  enum Reception {
    /// The handler was called, or will be.
    case taken

    /// The observation has ended.
    case refused
  }

  /// Takes a message.
  ///
  /// - Parameters:
  ///   - message: A message of the topic's type.
  ///   - owner: The owner, which is alive.
  ///   - isolation: The actor that the post was written in.
  ///   - receipt: What is to be held until the message has been handled.
  final func receive(
    _ message: ErasedMessage, owner: AnyObject, isolation: (any Actor)?, receipt: Receipt?
  ) -> Reception {
    if endsAfterOne {
      guard status.close() else { return .refused }
    } else {
      guard status.isActive else { return .refused }
    }
    if isLate {
      deliver(message, owner: owner, isolation: isolation, receipt: receipt)
    } else {
      call.borrow { call in call(owner, message) }
      leaveAfterOne()
    }
    return .taken
  }

  /// Whether this is the handler of an owner under an id.
  final func isKept(by owner: ObjectIdentifier, under id: (any Hashable & Sendable)?) -> Bool {
    guard self.owner == owner else { return false }
    switch (self.id, id) {
    case (nil, nil): return true
    case (let own?, let other?): return AnyHashable(own) == AnyHashable(other)
    default: return false
    }
  }
}
