/// A handler of a topic, without its types.
///
/// A handler receives its owner and a post as `AnyObject` and `Post`, and casts both to its own types without a check. They
/// always have these types, because the handler was registered with this owner, in a list of its message type. So the code that
/// delivers is compiled once, for all message types, and looks up no types.
@usableFromInline
struct Handler: Sendable {
  @usableFromInline typealias Called = @Sendable (_ owner: AnyObject, _ post: Post) -> Void

  /// Calls and awaits a handler. Call it in the handler's actor.
  @usableFromInline typealias Awaited =
    nonisolated(nonsending) @Sendable (_ owner: AnyObject, _ post: Post) async -> Void

  @usableFromInline enum Body: Sendable {
    case called(Called)
    case awaited(Awaited)

    /// The registration has ended, and the function is released. The handler receives no more messages.
    case ended
  }

  var body: Body

  /// Whether the registration ends with the first message.
  let once: Bool

  /// Whether the handler skips a message if the topic has stored a newer one.
  let newestOnly: Bool

  /// The call site of `observe`; nil in a release build, which saves the memory.
  #if DEBUG
    let site: CallSite?
  #else
    var site: CallSite? { nil }
  #endif

  init(_ body: Body, once: Bool, newestOnly: Bool, at site: CallSite) {
    self.body = body
    self.once = once
    self.newestOnly = newestOnly
    #if DEBUG
      self.site = site
    #endif
  }

  var isActive: Bool { if case .ended = body { false } else { true } }

  /// A handler without its types. The unchecked casts are safe: see ``Handler``.
  @inlinable
  static func erasingTypes<Message: Sendable, Owner: AnyObject & Sendable>(
    of handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> Body {
    .called { owner, post in
      handler(
        unsafe unsafeDowncast(owner, to: Owner.self),
        unsafe unsafeDowncast(post, to: TopicPost<Message>.self).message)
    }
  }
}
