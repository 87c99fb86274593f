import MulticastPlatform

/// A value that one thread at a time may use. The thread sanitizer understands the lock on every system.
///
/// Unchecked, because the compiler does not know that ``withLock(_:)`` is the only access to the value.
@safe
package struct Locked<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let lock = Cell(multicast_lock())
  private let state: Cell<State>

  package init(_ state: consuming sending State) {
    self.state = Cell(state)
  }

  // Otherwise the optimizer copies what a body returns once more.
  @_transparent
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Whoever holds the lock has the value alone.
    nonisolated(unsafe) let state = unsafe state.address
    let lock = unsafe lock.address
    unsafe multicast_acquire(lock)
    defer { unsafe multicast_release(lock) }
    return try unsafe body(&state.pointee)
  }
}
