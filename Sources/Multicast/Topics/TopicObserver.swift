/// A topic's handler: the box of its owner in the topic's list.
///
/// Observing again under the same id and in the same home replaces the handler in here, which keeps its place
/// and receives what waits there.
///
/// Unchecked like its superclass. What it adds is behind a lock.
class TopicObserver: WeakBox, @unchecked Sendable {
  fileprivate struct State {
    var handler: TopicHandler

    /// Identifies the handler among those that replaced each other. It may overflow.
    var version: UInt32 = 0

    /// The number of the last kept post that a handler has taken.
    var lastKept: UInt64 = 0

    /// Notes that the handler receives a message. Returns whether it is its last one; nil if it does not receive it.
    @inline(__always)
    mutating func take(_ post: Post) -> Bool? {
      if !handler.isActive || handler.newestOnly && post.isOutdated { return nil }
      // A post that is not kept any more has no number.
      lastKept = unsafe max(lastKept, post.number)
      if handler.once { _ = handler.end() }
      return handler.once
    }
  }

  private let state: Locked<State>

  init(of owner: AnyObject, _ handler: TopicHandler, at mailbox: Mailbox?) {
    state = Locked(State(handler: handler))
    super.init(owner, at: mailbox)
  }

  override final func end() { cancel() }

  /// Distinguishes the handlers of one owner for one topic; nil for a handler that is not replaced.
  var id: (any Hashable & Sendable)? { nil }

  /// Whether the handler has this owner and this id. Runs a client's code, so no lock is held.
  func isOf(_ owner: AnyObject, id other: (any Hashable & Sendable)?) -> Bool {
    guard let id, let other, identity == ObjectIdentifier(owner).address, isAlive else {
      return false
    }
    return AnyHashable(id) == AnyHashable(other)
  }

  /// Whether a handler with this home would live where this one does.
  func isAtHome(_ home: Mailbox?) -> Bool {
    switch (self.home?.place, home?.place) {
    case (.task(_, let actor), .task(_, let other)): actor?.actor === other?.actor
    default: self.home === home
    }
  }

  /// The handler for a message, and whether it is its last one; nil if it does not receive this one.
  @inline(__always)
  func take(_ post: Post) -> (call: TopicHandler.Called, isLast: Bool?) {
    state.withLock { state in (state.handler.called, state.take(post)) }
  }

  /// Like ``take(_:)``, for a handler that is awaited.
  func takeAwaited(_ post: Post) -> (call: TopicHandler.Awaited, isLast: Bool?) {
    state.withLock { state in (state.handler.awaited, state.take(post)) }
  }

  /// Where `observe` was called, in a debug build.
  var site: CallSite? { state.withLock { $0.handler.site } }

  /// Whether the handler, or the one of this version, receives messages.
  func isActive(version: UInt32? = nil) -> Bool {
    state.withLock { $0.handler.isActive && $0.version == version ?? $0.version }
  }
}

/// A handler with an id. In a class of its own, because most handlers have none.
///
/// Unchecked like its superclass. It adds constants, which are Sendable.
final class TopicObserverWithID: TopicObserver, @unchecked Sendable {
  private let ownID: any Hashable & Sendable
  private let ownKey: UInt

  init(
    _ id: any Hashable & Sendable, of owner: AnyObject, _ handler: TopicHandler,
    at mailbox: Mailbox?
  ) {
    ownID = id
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(owner))
    hasher.combine(AnyHashable(id))
    ownKey = UInt(bitPattern: hasher.finalize()) | 1
    super.init(of: owner, handler, at: mailbox)
  }

  override var key: UInt { ownKey }
  override var id: (any Hashable & Sendable)? { ownID }
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
    with handler: TopicHandler, latest: UInt64?
  ) -> Replacement? {
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
    let old: TopicHandler? = state.withLock { state in
      version == nil || version == state.version ? state.handler.end() : nil
    }
    return old?.isActive ?? false
  }
}

// MARK: - Finding leaks

extension TopicObserver {
  /// Ends the observation. Returns what to tell if its handler alone has kept the owner alive. Called in the owner's home.
  func endFindingLeak(in list: TopicList) -> String? {
    let site = site
    let wasAlive = isAlive
    list.remove(self)
    guard wasAlive, !isAlive, !(type is any Surrogate.Type) else { return nil }
    let advice =
      type is any Actor.Type
      ? "or take the owner isolated: { (me: isolated \(type), message) in … }"
      : "or observe with a method: observe(topic, owner: self, \(type).method)"
    return """
      \(type) was kept alive by its own handler for \(list.subject)\(site.map { ", observed at \($0)" } ?? ""). Use the \
      closure's parameter instead of self, \(advice).
      """
  }
}

extension MulticastCenter {
  /// Ends all handlers of topics, each in its home. Returns what to tell of owners that only their own handlers kept alive.
  package func endHandlers() async -> [String] {
    var leaks: [String] = []
    for case let list as TopicList in registries.all.flatMap(\.lists) {
      for box in list.boxes where box.isRegistered {
        // In its home, an actor would be held. It may end anywhere.
        let home = box.type is any Actor.Type ? nil : box.home
        let leak = await (home?.place ?? .postingThread).run {
          box.observer.endFindingLeak(in: list)
        }
        leaks += leak.map { [$0] } ?? []
      }
    }
    return leaks
  }
}

/// A topic's handler.
///
/// Owner and post are type-erased. They always have the handler's types, because the handler was
/// registered with this owner for this message type. So the code that delivers is compiled once and looks up
/// no types.
@usableFromInline
struct TopicHandler: Sendable {
  @usableFromInline typealias Called = @Sendable (_ owner: AnyObject, _ post: Post) -> Void

  /// Calls and awaits a handler. It is called in its actor.
  @usableFromInline typealias Awaited =
    nonisolated(nonsending) @Sendable (_ owner: AnyObject, _ post: Post) async -> Void

  @usableFromInline enum Call: Sendable {
    case called(Called)
    case awaited(Awaited)
  }

  /// One of these receives messages, until the last one. They are not optional, because an optional function is called by
  /// way of another one.
  private(set) var called: Called = { _, _ in }
  private(set) var awaited: Awaited = { _, _ in }

  private(set) var isActive = true

  /// Whether it receives one message.
  let once: Bool

  /// Whether it receives no message if a newer one is kept.
  let newestOnly: Bool

  /// Where `observe` was called; nil in a release build, which saves the memory.
  #if DEBUG
    let site: CallSite?
  #else
    var site: CallSite? { nil }
  #endif

  init(call: Call, once: Bool, newestOnly: Bool, at site: CallSite) {
    switch call {
    case .called(let call): called = call
    case .awaited(let call): awaited = call
    }
    self.once = once
    self.newestOnly = newestOnly
    #if DEBUG
      self.site = site
    #endif
  }

  /// Ends the handler. Returns it as it was, to release with no lock held.
  mutating func end() -> TopicHandler {
    defer { (called, awaited, isActive) = ({ _, _ in }, { _, _ in }, false) }
    return self
  }

  @inlinable
  static func erase<Message: Sendable, Owner: AnyObject & Sendable>(
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> Called {
    { owner, post in
      handler(
        unsafe unsafeDowncast(owner, to: Owner.self),
        unsafe unsafeDowncast(post, to: TopicPost<Message>.self).message)
    }
  }
}
