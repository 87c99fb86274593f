/// A topic's handler.
///
/// Owner and post are type-erased. They always have the handler's types, because the handler was
/// registered with this owner for this message type. So the code that delivers is compiled once and looks up
/// no types.
@usableFromInline
struct Handler: Sendable {
  @usableFromInline typealias Called = @Sendable (_ owner: AnyObject, _ post: Post) -> Void

  /// Calls and awaits a handler. It is called in its actor.
  @usableFromInline typealias Awaited =
    nonisolated(nonsending) @Sendable (_ owner: AnyObject, _ post: Post) async -> Void

  @usableFromInline enum Call: Sendable {
    case called(Called)
    case awaited(Awaited)

    /// The handler receives no more messages.
    case ended
  }

  var call: Call

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

  init(_ call: Call, once: Bool, newestOnly: Bool, at site: CallSite) {
    self.call = call
    self.once = once
    self.newestOnly = newestOnly
    #if DEBUG
      self.site = site
    #endif
  }

  var isActive: Bool { if case .ended = call { false } else { true } }

  @inlinable
  static func erase<Message: Sendable, Owner: AnyObject & Sendable>(
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> Call {
    .called { owner, post in
      handler(
        unsafe unsafeDowncast(owner, to: Owner.self),
        unsafe unsafeDowncast(post, to: TopicPost<Message>.self).message)
    }
  }
}
