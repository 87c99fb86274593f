// How the library calls a function that names an actor, without `await`.
//
// Swift lets you call such a function with `await` only, because it cannot see where the call is made. The library makes the
// call where the function belongs, in the actor, which is the home of the listener. An `await` there would need a task, and
// `post` could not call before it returns. In memory, a synchronous function that names an actor is like any other: the same
// two words, with the same calling convention. Nothing in the function switches to the actor, because the caller of the
// function does that. So these structures change the type of the function, with `unsafeBitCast`, and the library promises to
// call it in its actor. It keeps the promise because it calls a listener only in the listener's home: see Delivery.swift.
//
// `assumeIsolated` would check the executor in each call, and cannot call an `@isolated(any)` function.
//
// The functions are in structures, because `unsafeBitCast` is generic: the compiler would wrap a bare function twice to pass it
// as a generic value. The structures name the types of the arguments, with the same constraints on both sides of the cast,
// because an unconstrained argument is passed in another way than an object.

/// A function of one argument, after the cast.
@usableFromInline package struct Callable<Argument> {
  @usableFromInline package let function: @Sendable (Argument) -> Void
}

/// A function of an owner and a message, after the cast.
@usableFromInline struct CallableHandler<Owner: AnyObject, Message> {
  @usableFromInline let function: @Sendable (Owner, Message) -> Void
}

/// A method that is not applied to its object, after the cast.
@usableFromInline struct CallableMethod<Owner: AnyObject, Message> {
  @usableFromInline let function: @Sendable (Owner) -> (Message) -> Void
}

/// A function of the main actor.
@usableFromInline struct MainActorFunction<Argument> {
  @usableFromInline let function: @MainActor @Sendable (Argument) -> Void

  @inlinable
  init(_ function: @escaping @MainActor @Sendable (Argument) -> Void) { self.function = function }

  /// The function. Call it in its actor.
  @inlinable
  var callable: @Sendable (Argument) -> Void {
    unsafe unsafeBitCast(self, to: Callable<Argument>.self).function
  }
}

/// A handler of any actor.
@usableFromInline struct IsolatedHandler<Owner: AnyObject, Message> {
  @usableFromInline let function: @isolated(any) @Sendable (Owner, Message) -> Void

  @inlinable
  init(_ function: @escaping @isolated(any) @Sendable (Owner, Message) -> Void) {
    self.function = function
  }

  /// The function. Call it in its actor.
  @inlinable
  var callable: @Sendable (Owner, Message) -> Void {
    unsafe unsafeBitCast(self, to: CallableHandler<Owner, Message>.self).function
  }
}

/// A handler that is isolated to its owner.
@usableFromInline struct ActorHandler<Owner: Actor, Message> {
  @usableFromInline let function: @Sendable (isolated Owner, Message) -> Void

  @inlinable
  init(_ function: @escaping @Sendable (isolated Owner, Message) -> Void) {
    self.function = function
  }

  /// The function. Call it in its actor.
  @inlinable
  var callable: @Sendable (Owner, Message) -> Void {
    unsafe unsafeBitCast(self, to: CallableHandler<Owner, Message>.self).function
  }
}

/// A method of any actor that is not applied to its object.
///
/// Any thread may use it, because a method that is not applied captures nothing. Its type does not say `@Sendable`, because in
/// language mode 5 the compiler does not infer that for a method.
@usableFromInline struct IsolatedMethod<Owner: AnyObject, Message> {
  @usableFromInline let function: (Owner) -> @isolated(any) (Message) -> Void

  @inlinable
  init(_ function: @escaping (Owner) -> @isolated(any) (Message) -> Void) {
    self.function = function
  }

  /// The method, as a function of an owner and a message. Call it in its actor.
  @inlinable
  var callable: @Sendable (Owner, Message) -> Void {
    let method = unsafe unsafeBitCast(self, to: CallableMethod<Owner, Message>.self).function
    return { owner, message in method(owner)(message) }
  }
}
