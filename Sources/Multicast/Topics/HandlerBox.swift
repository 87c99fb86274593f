/// The box of a topic's handler: a weak reference to the handler's owner, the home, and the handler.
///
/// If the owner observes again with the same id and in the same home, the new handler replaces the old one in this box. So it
/// has the same position in the order, and receives the letters that wait in the home.
///
/// `@unchecked`, because the superclass is. What it adds is constant, or protected by a lock.
final class HandlerBox: WeakBox, @unchecked Sendable {
  private struct State {
    var handler: Handler

    /// The number of replacements. A token cancels only the version that it was made for. An overflow would do harm only if a
    /// token were 2³² replacements old.
    var version: UInt32 = 0

    /// The number of the last stored post that this handler or its predecessors have received; 0 if there is none.
    var lastReceived: UInt64 = 0
  }

  private let state: Locked<State>

  /// Distinguishes the handlers of one owner for one topic; nil for a handler that replaces none and is not replaced.
  private let ownID: HandlerID?

  init(
    of owner: AnyObject, id: (any Hashable & Sendable)? = nil, _ handler: Handler,
    at home: Home?
  ) {
    state = Locked(State(handler: handler))
    ownID = id.map { HandlerID($0, of: owner) }
    super.init(owner, at: home)
  }

  override var idHash: UInt { ownID?.hash ?? 0 }
  var id: (any Hashable & Sendable)? { ownID?.id }

  override func releaseContents() {
    _ = takeHandler()
    ownID?.release()
  }

  /// The call site of `observe`, in a debug build; nil in a release build.
  var site: CallSite? { state.withLock { $0.handler.site } }
}

extension WeakBox {
  /// This box, cast to the box of a handler. Use it for the boxes of a `TopicList`, which contains no others.
  var handlerBox: HandlerBox { unsafe unsafeDowncast(self, to: HandlerBox.self) }
}

/// The id of a handler, and the hash by which the list finds it. It is an object, because most handlers have no id.
private final class HandlerID: Sendable {
  private let state: Locked<(any Hashable & Sendable)?>

  /// A hash of the owner and the id, which is never 0, because 0 means no id.
  let hash: UInt

  init(_ id: any Hashable & Sendable, of owner: AnyObject) {
    state = Locked(id)
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(owner))
    hasher.combine(AnyHashable(id))
    hash = UInt(bitPattern: hasher.finalize()) | 1
  }

  /// The id; nil after the registration has ended.
  var id: (any Hashable & Sendable)? { state.withLock { $0 } }

  /// Releases the id, which may retain the owner. Call this with no lock held.
  func release() { _ = state.withLock { $0.take() } }
}

// MARK: - Calling

extension HandlerBox {
  /// What the caller does with a post. If the message is the last one, it removes the box from the list first.
  enum Action {
    case skip
    case call(Handler.Called, isLast: Bool)
    case await(Handler.Awaited, isLast: Bool)
  }

  /// Notes that the handler receives a post, and decides what the caller does with it. A handler with `once` ends here, before
  /// its call.
  @inline(__always)
  func receive(_ post: Post) -> Action {
    state.withLock { state in
      if state.handler.newestOnly && post.isOutdated { return .skip }
      // 0 for a topic that does not keep its latest message, so that nothing changes.
      state.lastReceived = unsafe max(state.lastReceived, post.number)
      let isLast = state.handler.once
      // The action retains the function, so nothing is released with the lock held.
      defer { if isLast { state.handler.body = .ended } }
      return switch state.handler.body {
      case .called(let body): .call(body, isLast: isLast)
      case .awaited(let body): .await(body, isLast: isLast)
      case .ended: .skip
      }
    }
  }

  /// Whether the handler receives messages. With a version, whether the handler of that version does.
  func isActive(version: UInt32? = nil) -> Bool {
    state.withLock { $0.handler.isActive && $0.version == version ?? $0.version }
  }
}

// MARK: - Replacing and ending

extension HandlerBox {
  /// Whether the handler belongs to this owner and has this id. Call this with no lock held, because the `==` of an id is
  /// client code.
  func isOf(_ owner: AnyObject, id other: (any Hashable & Sendable)?) -> Bool {
    guard let id, let other, identity == ObjectIdentifier(owner).address, isAlive else {
      return false
    }
    return AnyHashable(id) == AnyHashable(other)
  }

  /// Whether this handler is called where a handler with the given home would be called.
  func hasSameHome(as home: Home?) -> Bool {
    switch (self.home?.kind, home?.kind) {
    case (.handlerTask(let actor), .handlerTask(let other)): actor?.actor === other?.actor
    default: self.home === home
    }
  }

  /// The result of replacing a handler.
  struct Replacement: Sendable {
    let version: UInt32

    /// Whether the new handler begins with the stored post, because the old one has received it already.
    let mustReceiveLatest: Bool

    /// The old handler. Release it with no lock held.
    let old: Handler
  }

  /// Replaces the handler. Returns nil if the registration has ended.
  ///
  /// If the topic keeps its latest message, call this with the office's lock held.
  ///
  /// - Parameter storedNumber: The number of the topic's stored post; nil if there is none.
  func replaceHandler(with handler: Handler, storedNumber: UInt64?) -> Replacement? {
    state.withLock { state in
      let old = state.handler
      if !old.isActive { return nil }
      state.handler = handler
      state.version &+= 1
      // If the old handler has not received the stored post, the letter of that post still waits in the home, and reaches the new
      // one.
      let mustReceiveLatest = storedNumber == state.lastReceived
      // The new one has not received it yet, so another replacement before that must not begin again.
      if mustReceiveLatest { state.lastReceived = 0 }
      return Replacement(version: state.version, mustReceiveLatest: mustReceiveLatest, old: old)
    }
  }

  /// Ends the registration, so that no further call begins. Returns the handler that it had, to release with no lock held; nil if
  /// another one has replaced the version to end.
  ///
  /// - Parameter version: The version to end; nil for any.
  func takeHandler(version: UInt32? = nil) -> Handler? {
    state.withLock { state in
      if let version, version != state.version { return nil }
      defer { state.handler.body = .ended }
      return state.handler
    }
  }
}
