/// The box of a topic's handler: a weak reference to its owner, its home, and the handler.
///
/// Observing again under the same id and in the same home replaces the handler in here, which keeps its place
/// and receives what waits there.
///
/// Unchecked like its superclass. What it adds is constant or behind a lock.
final class HandlerBox: WeakBox, @unchecked Sendable {
  private struct State {
    var handler: Handler

    /// Identifies the handler among those that replaced each other. It may overflow.
    var version: UInt32 = 0

    /// The number of the last kept post that a handler has taken.
    var lastKept: UInt64 = 0
  }

  private let state: Locked<State>

  /// Distinguishes the handlers of one owner for one topic; nil for a handler that is not replaced.
  private let ownID: HandlerID?

  init(
    of owner: AnyObject, id: (any Hashable & Sendable)? = nil, _ handler: Handler,
    at home: Home?
  ) {
    state = Locked(State(handler: handler))
    ownID = id.map { HandlerID($0, of: owner) }
    super.init(owner, at: home)
  }

  override var key: UInt { ownID?.key ?? 0 }
  var id: (any Hashable & Sendable)? { ownID?.id }

  override func releaseContents() { cancel() }

  /// Where `observe` was called, in a debug build.
  var site: CallSite? { state.withLock { $0.handler.site } }
}

extension WeakBox {
  /// A topic's boxes are those of handlers.
  var handlerBox: HandlerBox { unsafe unsafeDowncast(self, to: HandlerBox.self) }
}

/// An object, because most handlers have none.
private final class HandlerID: Sendable {
  let id: any Hashable & Sendable

  /// A hash of the owner and the id; never 0.
  let key: UInt

  init(_ id: any Hashable & Sendable, of owner: AnyObject) {
    self.id = id
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(owner))
    hasher.combine(AnyHashable(id))
    key = UInt(bitPattern: hasher.finalize()) | 1
  }
}

// MARK: - Calling

extension HandlerBox {
  /// What is to be done with a post. The last message ends the registration.
  enum Action {
    case skip
    case call(Handler.Called, isLast: Bool)
    case await(Handler.Awaited, isLast: Bool)
  }

  /// What is to be done with a post.
  @inline(__always)
  func action(for post: Post) -> Action {
    state.withLock { state in
      if state.handler.newestOnly && post.isOutdated { return .skip }
      // A post that is not kept any more has no number.
      state.lastKept = unsafe max(state.lastKept, post.number)
      let isLast = state.handler.once
      // The action has the function, so nothing is released with the lock held.
      defer { if isLast { state.handler.call = .ended } }
      return switch state.handler.call {
      case .called(let call): .call(call, isLast: isLast)
      case .awaited(let call): .await(call, isLast: isLast)
      case .ended: .skip
      }
    }
  }

  /// Whether the handler, or the one of this version, receives messages.
  func isActive(version: UInt32? = nil) -> Bool {
    state.withLock { $0.handler.isActive && $0.version == version ?? $0.version }
  }
}

// MARK: - Replacing and ending

extension HandlerBox {
  /// Whether the handler has this owner and this id. Runs a client's code, so no lock is held.
  func isOf(_ owner: AnyObject, id other: (any Hashable & Sendable)?) -> Bool {
    guard let id, let other, identity == ObjectIdentifier(owner).address, isAlive else {
      return false
    }
    return AnyHashable(id) == AnyHashable(other)
  }

  /// Whether a handler with this home would live where this one does.
  func isAtHome(_ home: Home?) -> Bool {
    switch (self.home?.kind, home?.kind) {
    case (.task(_, let actor), .task(_, let other)): actor?.actor === other?.actor
    default: self.home === home
    }
  }

  struct Replacement: Sendable {
    let version: UInt32

    /// Whether the new handler must be given the latest kept post, which the old one has taken.
    let mustBegin: Bool

    /// The old handler, to release with no lock held.
    let old: Handler
  }

  /// Replaces the handler. Returns nil if it has ended.
  ///
  /// - Parameter latest: The number of the latest kept post; nil if there is none. The office's lock is held if
  ///   the list keeps posts.
  func replaceHandler(with handler: Handler, latest: UInt64?) -> Replacement? {
    state.withLock { state in
      let old = state.handler
      if !old.isActive { return nil }
      state.handler = handler
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
    let old: Handler? = state.withLock { state in
      if let version, version != state.version { return nil }
      defer { state.handler.call = .ended }
      return state.handler
    }
    return old?.isActive ?? false
  }
}
