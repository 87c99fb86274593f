// The language requires `await` for a call of an `@isolated(any)` function, because the compiler does not
// know where the function must run. The library does: in the actor that it names, or anywhere. The two types
// differ in what the compiler checks, and not in how they are called.
//
// The functions are in structures, because `unsafeBitCast` is generic and would wrap bare functions twice, at
// the cost of two more calls.

/// A function of one argument and any isolation.
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

  /// The function. Call it in its actor.
  @inlinable
  var callable: @Sendable (Argument) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}

/// A function of two arguments and any isolation.
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

  /// The function. Call it in its actor.
  @inlinable
  var callable: @Sendable (First, Second) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}

/// A function isolated to its first argument.
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

  /// The function. Call it in its actor.
  @inlinable
  var callable: @Sendable (First, Second) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}
