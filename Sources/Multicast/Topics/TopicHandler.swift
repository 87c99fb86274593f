import Dispatch

/// A topic's handler, and where it runs.
///
/// Owner and message come in erased. They are of the types that the handler was written for, because it
/// was registered together with the owner, for a topic of this type of message. The code that delivers
/// is thus compiled once, and looks up no types.
@usableFromInline
enum TopicHandler: Sendable {
  @usableFromInline
  typealias Call = @Sendable (_ owner: AnyObject, _ message: ErasedMessage) -> Void

  /// On the thread that posts.
  case direct(Call)

  /// In the actor that the handler was written in.
  case isolated(any Actor, Call)

  /// On a queue.
  case queued(DispatchQueue, Call)
}

extension TopicHandler {
  /// A handler that runs in the isolation it was written in.
  @inlinable
  init<Message, Owner: AnyObject & Sendable>(
    isolatedAsWritten handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) {
    let isolation = handler.isolation
    // The language calls such a function with `await` only, since it does not know where it is to
    // run. We do: it is called inside the actor that it names, or anywhere if it names none. The two
    // types differ in what the compiler checks, not in how they are called.
    let function = unsafe unsafeBitCast(handler, to: (@Sendable (Owner, Message) -> Void).self)
    let call = Self.erase(function)
    self = isolation.map { .isolated($0, call) } ?? .direct(call)
  }

  @inlinable
  init<Message, Owner: AnyObject & Sendable>(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) {
    self = .queued(queue, Self.erase(handler))
  }

  @inlinable
  static func erase<Message, Owner: AnyObject & Sendable>(
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> Call {
    { owner, message in
      let owner = unsafe unsafeDowncast(owner, to: Owner.self)
      message.borrow(as: Message.self) { message in handler(owner, message) }
    }
  }
}
