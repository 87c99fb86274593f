/// What a topic keeps for one handler: the companion of its owner in the topic's list.
///
/// To observe again in the same home puts another handler in here. So whoever comes with a message calls the
/// handler of that moment, and what waits for one that is replaced reaches the new one.
final class TopicObserver: Sendable {
  /// What tells the handlers of one owner for one topic apart.
  enum ID: Sendable {
    /// The place where the handler is written.
    case site(CallSite)

    /// What the user gave.
    case value(any Hashable & Sendable)
  }

  private struct State {
    /// Nil once it takes no more messages.
    var handler: TopicHandler?

    var endsAfterOne: Bool

    /// How often the handler was replaced.
    var version = 0

    /// The number of the last letter that was handled, so that no letter is handled twice.
    var lastLetter: UInt64 = 0

    /// What has to be handled before anything else, and what came in meanwhile.
    var queue: [QueuedPost]?

    /// Whether a thread is handling the queue.
    var isHandlingQueue = false

    /// The registration that has taken this one's place, in another home.
    var successor: Registration?

    /// The number of the registration that its lane is named after: of the first one in this place.
    var lane: UInt64?
  }

  /// The owner's identity, by which it is found. The address alone: it says nothing of life.
  let owner: ObjectIdentifier
  let id: ID

  /// The mailbox of the handler's home; nil if it has none, or if it is awaited.
  let mailbox: Mailbox?

  let isAwaited: Bool

  private let state: Locked<State>

  init(
    owner: AnyObject, id: ID, once: Bool, handler: TopicHandler, mailbox: Mailbox?,
    beginsWithQueue: Bool = false
  ) {
    self.owner = ObjectIdentifier(owner)
    self.id = id
    self.mailbox = mailbox
    isAwaited = handler.isAwaited
    state = Locked(
      State(handler: handler, endsAfterOne: once, queue: beginsWithQueue ? [] : nil))
  }
}

// MARK: - Taking messages

extension TopicObserver: PostQueue {
  enum Reception {
    case called(ErasedMessage.Handler, isLast: Bool)
    case awaited(PostOffice.LaneKey)

    /// Another message has to come first.
    case queued

    /// It takes no more messages.
    case refused

    /// Another registration has taken this one's place.
    case moved(Registration)
  }

  /// A handler, in a structure: a function by itself would be wrapped in another one on its way out of the
  /// lock, which is generic.
  struct UsualReception {
    let call: ErasedMessage.Handler
  }

  /// Takes a message in the usual case: for a handler that is called, that does not end with this message, and
  /// that has nothing to handle first. Returns nil in any other case; then ``take(_:in:on:)`` says which.
  func takeUsual(on occasion: CallOccasion) -> UsualReception? {
    state.withLock { state in
      guard case .called(let call) = state.handler, !state.endsAfterOne, state.queue == nil else {
        return nil
      }
      if case .letter(let number) = occasion { state.lastLetter = number }
      return UsualReception(call: call)
    }
  }

  /// Takes a message for a handler that is called, and returns the handler.
  func take(_ registration: Registration, in list: ClientList, on occasion: CallOccasion)
    -> Reception
  {
    state.withLock { state in
      if let successor = state.successor { return .moved(successor) }
      switch state.handler {
      case .called(let call):
        switch occasion {
        case .posting: if state.queue != nil { return .queued }
        case .letter(let number): state.lastLetter = number
        case .queue: state.queue?.removeFirst()
        }
        if state.endsAfterOne { state.handler = nil }
        return .called(call, isLast: state.endsAfterOne)
      case .awaited:
        return .awaited(.registration(ObjectIdentifier(list), state.lane ?? registration.number))
      case nil: return .refused
      }
    }
  }

  /// Takes a message for a handler that is awaited; nil if it takes no more.
  func takeAwaited(letter: UInt64) -> (TopicHandler.AwaitedCall, isLast: Bool)? {
    state.withLock { state in
      guard case .awaited(let call, _) = state.handler else { return nil }
      state.lastLetter = letter
      if state.endsAfterOne { state.handler = nil }
      return (call, state.endsAfterOne)
    }
  }

  var isOpen: Bool { state.withLock { $0.queue != nil } }

  func enqueue(_ post: QueuedPost) {
    state.withLock { state in state.queue?.append(post) }
  }

  /// Calls the handler with what has to come first, unless another thread does.
  func handleQueue(_ registration: Registration, of list: ClientList, in office: PostOffice) {
    guard beginHandlingQueue() else { return }
    defer { extendLifetime(list) }
    while true {
      guard let queued = firstInQueue() else {
        if office.withLock({ _ in closeEmptyQueue() }) { return }
        continue
      }
      var wasCalled = false
      if var walk = list.beginWalk(at: registration), let box = walk.next() {
        office.handle(queued.post, in: nil) {
          queued.post.handle(in: nil, on: .queue) { call in
            if case .called = call(box) { wasCalled = true }
          }
        }
      }
      // Otherwise it is being removed, or the queue goes to the one in its place.
      guard wasCalled else { return }
    }
  }

  /// Whether the caller is the one to handle the queue.
  private func beginHandlingQueue() -> Bool {
    state.withLock { state in
      guard state.queue != nil, !state.isHandlingQueue else { return false }
      state.isHandlingQueue = true
      return true
    }
  }

  /// The next post of those that have to be handled first. It stays the first one until the handler has taken
  /// it, so that it goes on to another home with the others.
  private func firstInQueue() -> QueuedPost? { state.withLock { $0.queue?.first } }

  /// Lets others call the handler again, unless more has to be handled first. The office's lock is held.
  private func closeEmptyQueue() -> Bool {
    state.withLock { state in
      guard state.queue?.isEmpty ?? true else { return false }
      (state.queue, state.isHandlingQueue) = (nil, false)
      return true
    }
  }

  /// Has posts wait until those have been handled that are put before them.
  func beginQueue() {
    state.withLock { state in if state.queue == nil { state.queue = [] } }
  }

  /// Whether it takes messages.
  func isActive(version: Int) -> Bool {
    state.withLock { $0.handler != nil && $0.version == version }
  }

  /// The handler; nil once it takes no more messages.
  var handler: TopicHandler? { state.withLock { $0.handler } }
}

// MARK: - Replacing and ending

extension TopicObserver {
  /// Puts another handler in the place of this one. Returns its version; nil if the observation has ended.
  func replace(
    with handler: TopicHandler, once: Bool, droppingInto dropped: inout [TopicHandler]
  ) -> Int? {
    let (version, old): (Int?, TopicHandler?) = state.withLock { state in
      guard let old = state.handler else { return (nil, nil) }
      state.handler = handler
      state.endsAfterOne = once
      state.version += 1
      return (state.version, old)
    }
    if let old { dropped.append(old) }
    return version
  }

  /// Has another registration take this one's place: nothing is handled here from now on. Returns what was
  /// to be handled first, and the number of the last letter that was handled here.
  func move(
    to successor: Registration, droppingInto dropped: inout [TopicHandler]
  ) -> (queue: [QueuedPost], lastLetter: UInt64) {
    let (old, queue, letter) = state.withLock { state in
      defer { (state.handler, state.queue) = (nil, nil) }
      state.successor = successor
      return (state.handler, state.queue ?? [], state.lastLetter)
    }
    if let old { dropped.append(old) }
    return (queue, letter)
  }

  /// Takes over the lane of the observer in whose place this one comes: a call of that one may be under way.
  func inheritLane(of old: TopicObserver, _ registration: Registration) {
    let lane = old.state.withLock { $0.lane } ?? registration.number
    state.withLock { $0.lane = lane }
  }

  /// The lane in which the handler is awaited.
  func laneKey(of registration: Registration, in list: ClientList) -> PostOffice.LaneKey {
    .registration(
      ObjectIdentifier(list), state.withLock { $0.lane } ?? registration.number)
  }

  /// Ends it: no call of the handler begins any more. The handler is dropped, not with a lock held.
  ///
  /// - Parameter version: If given, only this handler is ended, not one that has replaced it.
  /// - Returns: Whether it was active.
  @discardableResult
  func cancel(version: Int? = nil) -> Bool {
    var dropped: (TopicHandler?, [QueuedPost]?)
    defer { extendLifetime(dropped) }
    return state.withLock { state in
      guard state.handler != nil, version == nil || version == state.version else { return false }
      dropped = (state.handler, state.queue)
      (state.handler, state.queue) = (nil, nil)
      return true
    }
  }
}

extension TopicObserver.ID: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.site(let one), .site(let other)): one == other
    case (.value(let one), .value(let other)): AnyHashable(one) == AnyHashable(other)
    default: false
    }
  }
}
