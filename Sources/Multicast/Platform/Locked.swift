import MulticastPlatform

/// A value that one thread at a time may use.
///
/// The lock and the value are in memory of their own, so the lock's address never changes. The thread sanitizer
/// understands the lock on every system.
///
/// Unchecked, because the compiler does not know that ``withLock(_:)`` is the only access to the value.
@safe
package struct Locked<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  private struct Contents: ~Copyable {
    /// First, so that a pointer to this is one to the lock.
    var lock = multicast_lock()
    var state: State
  }

  private let contents: UnsafeMutablePointer<Contents>

  package init(_ state: consuming sending State) {
    unsafe contents = .allocate(capacity: 1)
    unsafe contents.initialize(to: Contents(state: state))
  }

  deinit {
    unsafe contents.deinitialize(count: 1)
    unsafe contents.deallocate()
  }

  // As a property of what `contents` points to, it would be an access to the lock for the thread sanitizer.
  private var state: UnsafeMutablePointer<State> {
    unsafe (UnsafeMutableRawPointer(contents) + MemoryLayout<Contents>.size
      - MemoryLayout<State>.size).assumingMemoryBound(to: State.self)
  }

  // Otherwise the optimizer copies what a body returns once more.
  @_transparent
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Whoever holds the lock has the value alone.
    nonisolated(unsafe) let state = unsafe state
    let lock = unsafe UnsafeMutableRawPointer(contents).assumingMemoryBound(to: multicast_lock.self)
    unsafe multicast_acquire(lock)
    defer { unsafe multicast_release(lock) }
    return try unsafe body(&state.pointee)
  }
}
