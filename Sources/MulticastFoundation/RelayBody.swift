import Multicast

/// The body of a relay to clients, with its call site. It names no actor, or the main actor.
struct RelayBody<Listener, Value: Sendable>: Sendable {
  private let isOnMain: Bool
  private let body: @Sendable (Listener, Value) -> Void
  private let fileID: StaticString
  private let line: Int
  private let column: Int

  init(
    _ isolation: (any Actor)?, _ fileID: StaticString, _ line: Int, _ column: Int,
    _ body: @escaping @Sendable (Listener, Value) -> Void
  ) {
    if let isolation, isolation !== MainActor.shared {
      fatalError(
        """
        Multicast: the body of a relay runs in \(isolation). A relay calls clients at home, or on the main actor. Relay to \
        a topic instead, and observe that in the actor.
        """, file: fileID, line: UInt(clamping: line))
    }
    isOnMain = isolation != nil
    (self.fileID, self.line, self.column) = (fileID, line, column)
    self.body = body
  }

  func post(_ value: Value, to center: MulticastCenter) {
    if isOnMain {
      center.postOnMain(Listener.self, fileID: fileID, line: line, column: column) { [body] in
        body($0, value)
      }
    } else {
      center.post(Listener.self, fileID: fileID, line: line, column: column) { [body] in
        body($0, value)
      }
    }
  }
}

// How a relay calls a body that may name an actor, without `await`. These structures change the type of the body, and
// `RelayBody` makes sure that the body is called in its actor. IsolatedFunction.swift in Multicast explains why that is safe.

/// A body with a value.
struct IsolatedBody<Listener, Value> {
  let function: @isolated(any) @Sendable (Listener, Value) -> Void

  var callable: @Sendable (Listener, Value) -> Void {
    unsafe unsafeBitCast(self, to: CallableBody<Listener, Value>.self).function
  }
}

/// A body with a value, after the cast.
struct CallableBody<Listener, Value> {
  let function: @Sendable (Listener, Value) -> Void
}

/// A body without a value.
struct IsolatedCall<Listener> {
  let function: @isolated(any) @Sendable (Listener) -> Void

  var callable: @Sendable (Listener) -> Void {
    unsafe unsafeBitCast(self, to: Callable<Listener>.self).function
  }
}
