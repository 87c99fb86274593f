// The language requires `await` for a call of a function that names an actor. The library calls it there, where none is
// needed. Such a function is like any other in memory.
//
// The functions are in structures that name their types, with the same constraints: `unsafeBitCast` is generic and would wrap
// bare functions twice, and an unconstrained argument is passed in another way than an object.

@usableFromInline struct Callable<Argument> {
  @usableFromInline let function: @Sendable (Argument) -> Void
}

@usableFromInline struct CallableHandler<Owner: AnyObject, Message> {
  @usableFromInline let function: @Sendable (Owner, Message) -> Void
}

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

/// A method of any actor that is not applied to its object. Language mode 5 does not see that it is Sendable.
@usableFromInline struct IsolatedMethod<Owner: AnyObject, Message> {
  @usableFromInline let function: (Owner) -> @isolated(any) (Message) -> Void

  @inlinable
  init(_ function: @escaping (Owner) -> @isolated(any) (Message) -> Void) {
    self.function = function
  }

  /// The method. Call it in its actor.
  @inlinable
  var callable: @Sendable (Owner, Message) -> Void {
    let method = unsafe unsafeBitCast(self, to: CallableMethod<Owner, Message>.self).function
    return { owner, message in method(owner)(message) }
  }
}
