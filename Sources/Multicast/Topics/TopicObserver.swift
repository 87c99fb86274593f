/// What a topic keeps for one handler: the companion of its owner in the topic's list.
///
/// This one calls its handler on the thread that posts. ``LateObserver`` is for all others.
class TopicObserver: @unchecked Sendable {
  // Unchecked, because a class that is not final cannot be checked. All it has is constant and Sendable,
  // and so is all that the one subclass has.

  /// The owner's identity, by which it is found. The address alone: it says nothing of life.
  final let owner: ObjectIdentifier
  final let id: (any Hashable & Sendable)?
  final let status = ObservationStatus()

  private let endsAfterOne: Bool
  private let isLate: Bool

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
}

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
    }
    return endsAfterOne ? .takenAsLast : .taken
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
