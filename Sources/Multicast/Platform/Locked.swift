import MulticastPlatform

/// A value that one thread at a time may use, protected by a lock.
///
/// A lock must not change its address while it is held, so the lock and the value are in memory that this allocates. The
/// standard library's `Mutex` needs macOS 15 and its relatives, and the thread sanitizer does not see its lock on Linux.
///
/// The lock is not recursive: `withLock` inside itself stops the program or hangs. See ``PostOffice`` for the order of the
/// locks.
///
/// `@unchecked`, because the compiler does not know that ``withLock(_:)`` is the only access to the value.
@safe
package struct Locked<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  private struct Contents: ~Copyable {
    /// The first property, so that a pointer to the contents is a pointer to the lock.
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

  // The address is computed. `contents.pointee.state` would be an access to all of the contents for the thread sanitizer, and
  // with it to the lock.
  private var state: UnsafeMutablePointer<State> {
    unsafe (UnsafeMutableRawPointer(contents) + MemoryLayout<Contents>.size
      - MemoryLayout<State>.size).assumingMemoryBound(to: State.self)
  }

  /// Calls `body` with the lock held. Returns what it returns.
  ///
  /// The whole result lives until the lock is free, even if the caller uses only a part of it. So `body` may return what must
  /// not be released with the lock held, as a client, a message or a handler: its last release may run code of the user, which
  /// may need the same lock.
  // `@_transparent`, because otherwise the optimizer copies the result of `body` once more.
  @_transparent
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Only the thread that holds the lock uses the pointer.
    nonisolated(unsafe) let state = unsafe state
    let lock = unsafe UnsafeMutableRawPointer(contents).assumingMemoryBound(to: multicast_lock.self)
    let result: Result
    do {
      unsafe multicast_acquire(lock)
      defer { unsafe multicast_release(lock) }
      result = try unsafe body(&state.pointee)
    }
    // Otherwise an optimized build would release the result after its last use, which may be in `body`.
    extendLifetime(result)
    return result
  }
}
