import MulticastPlatform

/// A value that one thread at a time may use.
///
/// The lock and the value are in memory of their own, so the lock's address never changes. The thread sanitizer
/// understands the lock on every system.
///
/// Unchecked, because the compiler does not know that ``withLock(_:)`` is the only access to the value.
@safe
package struct Locked<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<multicast_lock>

  package init(_ state: consuming sending State) {
    let alignment = max(MemoryLayout<multicast_lock>.alignment, MemoryLayout<State>.alignment)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Self.offset + MemoryLayout<State>.size, alignment: alignment)
    unsafe lock = memory.initializeMemory(as: multicast_lock.self, to: multicast_lock())
    unsafe Self.state(of: lock).initialize(to: state)
  }

  deinit {
    unsafe Self.state(of: lock).deinitialize(count: 1)
    unsafe lock.deallocate()
  }

  // Otherwise the optimizer copies what a body returns once more.
  @_transparent
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Whoever holds the lock has the value alone.
    nonisolated(unsafe) let state = unsafe Self.state(of: lock)
    unsafe multicast_acquire(lock)
    defer { unsafe multicast_release(lock) }
    return try unsafe body(&state.pointee)
  }

  /// The value stands behind the lock.
  private static var offset: Int {
    let alignment = MemoryLayout<State>.alignment
    return (MemoryLayout<multicast_lock>.size + alignment - 1) & ~(alignment - 1)
  }

  private static func state(
    of lock: UnsafeMutablePointer<multicast_lock>
  ) -> UnsafeMutablePointer<State> {
    unsafe (UnsafeMutableRawPointer(lock) + offset).assumingMemoryBound(to: State.self)
  }
}
