/// A topic's handler: the companion of its owner in the topic's list.
///
/// Observing again under the same id and in the same home replaces the handler in here, which keeps its place
/// and receives what waits there.
final class TopicObserver: Sendable {
  fileprivate struct State {
    /// Nil after the last message.
    var handler: TopicHandler?

    var endsAfterOne: Bool

    /// Identifies the handler among those that replaced each other. It may overflow.
    var version: UInt32 = 0

    /// The number of the last kept post that a handler has taken.
    var lastKept: UInt64 = 0
  }

  /// An id in memory of its own, because most handlers have none.
  private final class ID: Sendable {
    let value: any Hashable & Sendable

    init(_ value: any Hashable & Sendable) {
      self.value = value
    }
  }

  private let ownID: ID?

  /// The mailbox of the handler's home; nil if it is called by posts.
  let mailbox: Mailbox?

  private let state: Locked<State>

  init(
    id: (any Hashable & Sendable)?, once: Bool, _ handler: TopicHandler, at mailbox: Mailbox?
  ) {
    ownID = id.map { ID($0) }
    self.mailbox = mailbox
    state = Locked(State(handler: handler, endsAfterOne: once))
  }

  /// Distinguishes the handlers of one owner for one topic; nil for a handler that is not replaced.
  var id: (any Hashable & Sendable)? { ownID?.value }

  /// Whether the handler has this id. Runs a client's code, so no lock is held.
  func hasID(_ other: any Hashable & Sendable) -> Bool {
    id?.isEqual(to: other) ?? false
  }

  /// Whether a handler of this kind with this home would live where this one does.
  func isAtHome(_ handler: TopicHandler, at home: Mailbox?) -> Bool {
    switch mailbox?.place {
    case .task: handler.isAwaited
    case .postingThread, nil: home == nil && !handler.isAwaited
    case .mainActor, .actor, .queue: mailbox === home && !handler.isAwaited
    }
  }

  var isActive: Bool { state.withLock { $0.handler != nil } }

  func isActive(version: UInt32) -> Bool {
    state.withLock { $0.handler != nil && $0.version == version }
  }
}

// MARK: - Taking messages

extension TopicObserver {
  /// A handler that takes a message. In a structure, because the generic `withLock` would wrap a bare function
  /// in another one.
  struct Reception {
    let call: ErasedMessage.Handler
  }

  /// The handler for a message that need not be its last one; nil if it is, or if it receives no more.
  func take(_ addressee: Letter.Addressee?) -> Reception? {
    state.withLock { state in
      guard case .called(let call) = state.handler, !state.endsAfterOne else { return nil }
      if let addressee { state.lastKept = addressee.number }
      return Reception(call: call)
    }
  }

  /// The handler for a message that may be its last one; nil if it has received that, or is awaited.
  func takePerhapsLast(_ addressee: Letter.Addressee?) -> (Reception, isLast: Bool)? {
    state.withLock { state in
      guard case .called(let call) = state.handler else { return nil }
      if let addressee { state.lastKept = addressee.number }
      if state.endsAfterOne { state.handler = nil }
      return (Reception(call: call), state.endsAfterOne)
    }
  }

  /// The awaited handler, and its version.
  var awaitingCall: (call: TopicHandler.AwaitingCall, version: UInt32)? {
    state.withLock { state in
      guard case .awaited(let call) = state.handler else { return nil }
      return (call, state.version)
    }
  }

  /// Takes a message with the handler of this version. Returns false if that has ended.
  func takeAwaited(_ addressee: Letter.Addressee, version: UInt32) -> Bool {
    let (isTaken, dropped) = state.withLock { state in
      guard state.handler != nil, state.version == version else {
        return (false, nil as TopicHandler?)
      }
      state.lastKept = addressee.number
      // Released with the lock released.
      return (true, state.endsAfterOne ? state.handler.take() : nil)
    }
    extendLifetime(dropped)
    return isTaken
  }
}

// MARK: - Replacing and ending

extension TopicObserver {
  struct Replacement: Sendable {
    let version: UInt32

    /// Whether the new handler must be given the latest kept post, which the old one has taken.
    let mustBegin: Bool

    /// The old handler, to release with no lock held.
    let old: TopicHandler
  }

  /// Replaces the handler. Returns nil if it has ended.
  ///
  /// - Parameter latest: The number of the latest kept post; nil if there is none. The office's lock is held if
  ///   the list keeps posts.
  func replaceHandler(
    with handler: TopicHandler, once: Bool, latest: UInt64?
  ) -> Replacement? {
    state.withLock { state in
      guard let old = state.handler else { return nil }
      state.handler = handler
      state.endsAfterOne = once
      state.version &+= 1
      // A post that was not taken waits in this home.
      let mustBegin = latest == state.lastKept
      if mustBegin { state.lastKept = 0 }
      return Replacement(version: state.version, mustBegin: mustBegin, old: old)
    }
  }

  /// Ends the observation and releases the handler. No further call begins. Called with no lock held.
  ///
  /// - Parameter version: If given, ends this handler only, and not a replacement.
  /// - Returns: Whether it was active.
  @discardableResult
  func cancel(version: UInt32? = nil) -> Bool {
    let old: TopicHandler? = state.withLock { state in
      version == nil || version == state.version ? state.handler.take() : nil
    }
    return old != nil
  }
}
