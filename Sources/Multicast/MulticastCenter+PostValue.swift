extension MulticastCenter {
  /// Posts a value to every client of a listener protocol, for functions that receive such a body from their
  /// callers. `isolation` is the caller's actor.
  @discardableResult
  package func post<Listener, Value: Sendable>(
    _ value: Value, to listener: Listener.Type, isolation: (any Actor)?, from site: CallSite,
    _ body: @escaping @isolated(any) @Sendable (Listener, Value) -> Void
  ) -> Int {
    guard let delegate = withDelegate(for: listener, { $0 }) else { return 0 }
    let actor = body.isolation
    let function = ValueFunction(body).callable
    @Sendable func call(_ box: WeakBox) -> CallOutcome {
      MulticastDelegate<Listener>.call(box) { function($0, value) }
    }
    return delegate.post(from: site, isolation: isolation, actor: actor, call: call) {
      { box, _, _ in call(box) }
    }
  }
}

/// A function of a listener and a value, with any isolation: see ``IsolatedFunction``.
private struct ValueFunction<Listener, Value> {
  struct Callable {
    let function: @Sendable (Listener, Value) -> Void
  }

  let function: @isolated(any) @Sendable (Listener, Value) -> Void

  init(_ function: @escaping @isolated(any) @Sendable (Listener, Value) -> Void) {
    self.function = function
  }

  /// The function. Call it in its actor.
  var callable: @Sendable (Listener, Value) -> Void {
    unsafe unsafeBitCast(self, to: Callable.self).function
  }
}
