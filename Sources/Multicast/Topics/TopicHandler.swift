import Dispatch

/// A topic's handler, and where it runs.
///
/// The owner comes in as an object, and is of the type that the handler was written for, because both
/// are registered together.
enum TopicHandler<Message: Sendable>: Sendable {
  typealias Call = @Sendable (AnyObject, Message) -> Void

  /// On the thread that posts.
  case direct(Call)

  /// In the actor that the handler was written in.
  case isolated(any Actor, Call)

  /// On a queue.
  case queued(DispatchQueue, Call)

  /// In a task.
  case awaited(@Sendable (AnyObject, Message) async -> Void)
}

extension TopicHandler {
  /// A handler that runs in the isolation it was written in.
  init<Owner: AnyObject & Sendable>(
    isolatedAsWritten handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) {
    let isolation = handler.isolation
    // The language calls such a function with `await` only, since it does not know where it is to
    // run. We do: it is called inside the actor that it names, or anywhere if it names none. The two
    // types differ in what the compiler checks, not in how they are called.
    let call = unsafe unsafeBitCast(handler, to: (@Sendable (Owner, Message) -> Void).self)
    let erased: Call = { owner, message in
      call(unsafe unsafeDowncast(owner, to: Owner.self), message)
    }
    self = isolation.map { .isolated($0, erased) } ?? .direct(erased)
  }

  init<Owner: AnyObject & Sendable>(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) {
    self = .queued(queue) { owner, message in
      handler(unsafe unsafeDowncast(owner, to: Owner.self), message)
    }
  }

  init<Owner: AnyObject & Sendable>(
    awaiting handler: @escaping @isolated(any) @Sendable (Owner, Message) async -> Void
  ) {
    self = .awaited { owner, message in
      await handler(unsafe unsafeDowncast(owner, to: Owner.self), message)
    }
  }
}
