/// A task-local value that `post` carries to the clients and handlers that it calls.
///
/// A listener that `post` calls in its home does not run in the sender's task. With this, it sees the value
/// that was current where `post` was called:
///
/// <!-- example: in Center -->
/// ```swift
/// nonisolated enum Request {
///   @TaskLocal static var id = 0
/// }
/// let carrier = MulticastCenter(
///   carrying: CarriedValue(Request.$id))
/// ```
///
/// A client that is called before `post` returns sees the current value without this. So does a client that
/// is notified. A center carries one value: put several in a structure.
public struct CarriedValue: Sendable {
  /// Reads the current value of the task-local variable.
  let capture: @Sendable () -> any CarriedBinding

  /// Creates a value that carries a task-local variable.
  ///
  /// - Parameter local: The projected value of the variable, as in `Request.$id`. It is read on the posting
  ///   thread, with no lock held.
  public init<Value: Sendable>(_ local: TaskLocal<Value>) {
    capture = { BoundValue(local: local, value: local.get()) }
  }
}

/// The value of a task-local variable, captured by a post, which its calls restore.
protocol CarriedBinding: AnyObject, Sendable {
  func restore<Result>(_ body: () -> Result) -> Result
  nonisolated(nonsending) func restore(_ body: nonisolated(nonsending) () async -> Void) async
}

// A class, because a structure would be boxed, and each post would look up its generic metadata twice.
private final class BoundValue<Value: Sendable>: CarriedBinding {
  private let local: TaskLocal<Value>
  private let value: Value

  init(local: TaskLocal<Value>, value: Value) {
    self.local = local
    self.value = value
  }

  func restore<Result>(_ body: () -> Result) -> Result { local.withValue(value, operation: body) }
  nonisolated(nonsending) func restore(_ body: nonisolated(nonsending) () async -> Void) async {
    await local.bind(value, body)
  }
}
