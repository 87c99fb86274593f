/// A topic's handler: the companion of its owner in the topic's list.
///
/// Observing again in the same home replaces the handler in here. So posts find the current handler, and a
/// new handler receives the messages that wait for the old one.
final class TopicObserver: Sendable {
  /// Distinguishes the handlers of one owner for one topic.
  enum ID: Sendable {
    case site(CallSite)
    case value(any Hashable & Sendable)
  }

  private struct State {
    /// Nil after the last message.
    var handler: TopicHandler?

    var endsAfterOne: Bool
    var version = 0

    /// The number of the last letter handled. A replacement does not handle it again.
    var lastLetter: UInt64 = 0

    /// The posts that must be handled first, and later ones. Nil if there are none and posts may call the
    /// handler.
    var queue: [QueuedPost]?

    var isHandlingQueue = false

    /// The replacement of this registration, in another home.
    var successor: Registration?

    /// The number that names the lane: that of the first registration in this place.
    var lane: UInt64?
  }

  /// The owner's address, which says nothing about its life.
  let owner: ObjectIdentifier
  let id: ID

  /// The mailbox of the handler's home; nil if it has none or is awaited.
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

    /// Another message must come first.
    case queued

    /// The observer receives no more messages.
    case refused

    /// Another registration has replaced this one.
    case moved(Registration)
  }

  /// A handler in a structure. The generic `withLock` would wrap a bare function in another one.
  struct UsualReception {
    let call: ErasedMessage.Handler
  }

  /// Returns the handler in the usual case: it is not awaited, this is not its last message, and it has no
  /// queue. Returns nil otherwise, for ``take(_:in:on:)``.
  func takeUsual(on occasion: CallOccasion) -> UsualReception? {
    state.withLock { state in
      guard case .called(let call) = state.handler, !state.endsAfterOne, state.queue == nil else {
        return nil
      }
      if case .letter(let number) = occasion { state.lastLetter = number }
      return UsualReception(call: call)
    }
  }

  /// Takes a message, and returns what to do with it.
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

  /// Returns the awaited handler for a message; nil if it receives no more.
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

  /// Calls the handler with its queue, unless another thread does.
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
      // Otherwise the observer is being removed, or its replacement takes the queue over.
      guard wasCalled else { return }
    }
  }

  /// Claims the queue. Returns false if another thread handles it.
  private func beginHandlingQueue() -> Bool {
    state.withLock { state in
      guard state.queue != nil, !state.isHandlingQueue else { return false }
      state.isHandlingQueue = true
      return true
    }
  }

  /// The next post of the queue. It stays the first until the handler takes it, so a replacement receives it
  /// with the others.
  private func firstInQueue() -> QueuedPost? { state.withLock { $0.queue?.first } }

  /// Closes the queue if it is empty, so posts call the handler again. The office's lock is held.
  private func closeEmptyQueue() -> Bool {
    state.withLock { state in
      guard state.queue?.isEmpty ?? true else { return false }
      (state.queue, state.isHandlingQueue) = (nil, false)
      return true
    }
  }

  /// Makes posts wait behind the queue.
  func beginQueue() {
    state.withLock { state in if state.queue == nil { state.queue = [] } }
  }

  func isActive(version: Int) -> Bool {
    state.withLock { $0.handler != nil && $0.version == version }
  }

  var handler: TopicHandler? { state.withLock { $0.handler } }
}

// MARK: - Replacing and ending

extension TopicObserver {
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

  /// Ends this observer, which was replaced by `successor`. Returns its queue and the number of the last
  /// letter it handled.
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

  /// Takes over the lane of the replaced observer, in which a call may be active.
  func inheritLane(of old: TopicObserver, _ registration: Registration) {
    let lane = old.state.withLock { $0.lane } ?? registration.number
    state.withLock { $0.lane = lane }
  }

  func laneKey(of registration: Registration, in list: ClientList) -> PostOffice.LaneKey {
    .registration(
      ObjectIdentifier(list), state.withLock { $0.lane } ?? registration.number)
  }

  /// Ends the observation and releases the handler. No further call begins. Called with no lock held.
  ///
  /// - Parameter version: If given, ends this handler only, and not a replacement.
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
