// The language calls a function that may belong to any actor with `await` only, since it does not know
// where the function is to run. We do: in the actor that it names, or anywhere if it names none. The two
// types differ in what the compiler checks, not in how they are called.
//
// The functions stand in structures meanwhile. As values of a generic type, which `unsafeBitCast` takes, each
// would be wrapped in another function, twice: that would be two more calls for each call.

/// A function of one argument that belongs to any actor.
@usableFromInline
struct IsolatedFunction<Argument> {
  @usableFromInline
  struct Callable {
    @usableFromInline
    let function: @Sendable (Argument) -> Void
  }

  @usableFromInline
  let function: @isolated(any) @Sendable (Argument) -> Void

  @inlinable
  init(_ function: @escaping @isolated(any) @Sendable (Argument) -> Void) {
    self.function = function
  }

  /// The function, to be called in its actor.
  @inlinable
  var callable: @Sendable (Argument) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}

/// A function of two arguments that belongs to any actor.
@usableFromInline
struct IsolatedFunction2<First: AnyObject, Second> {
  @usableFromInline
  struct Callable {
    @usableFromInline
    let function: @Sendable (First, Second) -> Void
  }

  @usableFromInline
  let function: @isolated(any) @Sendable (First, Second) -> Void

  @inlinable
  init(_ function: @escaping @isolated(any) @Sendable (First, Second) -> Void) {
    self.function = function
  }

  /// The function, to be called in its actor.
  @inlinable
  var callable: @Sendable (First, Second) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}

/// A function that runs in its first argument.
@usableFromInline
struct ActorFunction<First: Actor, Second> {
  @usableFromInline
  struct Callable {
    @usableFromInline
    let function: @Sendable (First, Second) -> Void
  }

  @usableFromInline
  let function: @Sendable (isolated First, Second) -> Void

  @inlinable
  init(_ function: @escaping @Sendable (isolated First, Second) -> Void) {
    self.function = function
  }

  /// The function, to be called in its actor.
  @inlinable
  var callable: @Sendable (First, Second) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}
