/// A topic's handler.
///
/// Owner and message are type-erased. They always have the handler's types, because the handler was
/// registered with this owner for this message type. So the code that delivers is compiled once and looks up
/// no types.
enum TopicHandler: Sendable {
  typealias AwaitedCall = @Sendable (_ owner: AnyObject, _ message: any Sendable) async -> Void

  case called(ErasedMessage.Handler)

  /// Awaited in a lane. The closure switches to its own actor.
  case awaited(AwaitedCall, in: TypeIdentity?)

  var isAwaited: Bool {
    if case .awaited = self { true } else { false }
  }
}

extension ErasedMessage {
  @usableFromInline
  typealias Handler = @Sendable (_ owner: AnyObject, _ message: ErasedMessage) -> Void

  @inlinable
  static func erase<Message, Owner: AnyObject & Sendable>(
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> Handler {
    { owner, message in
      let owner = unsafe unsafeDowncast(owner, to: Owner.self)
      message.borrow(as: Message.self) { message in handler(owner, message) }
    }
  }
}
