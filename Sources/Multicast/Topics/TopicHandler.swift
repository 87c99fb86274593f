/// A topic's handler.
///
/// Owner and message are type-erased. They always have the handler's types, because the handler was
/// registered with this owner for this message type. So the code that delivers is compiled once and looks up
/// no types.
enum TopicHandler: Sendable {
  /// Calls and awaits a handler in its actor, if `isDue` returns true there. Returns whether it was.
  typealias AwaitingCall =
    @Sendable (
      _ owner: AnyObject, _ message: any Sendable, _ isDue: @Sendable () -> Bool
    ) async -> Bool

  case called(ErasedMessage.Handler)
  case awaited(AwaitingCall)

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
