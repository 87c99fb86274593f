/// A place on a thread's stack.
@usableFromInline
struct StackPlace: Sendable {
  /// The address of the thread's slot, which no other live thread has.
  private let thread: UInt
  private let address: UInt

  /// The current place, or one a few frames above it.
  static var current: StackPlace {
    let thread = CurrentThread.id
    // The address sanitizer moves variables, and allocations of constant size, off the stack. This size
    // depends on an address, so the compiler does not know that it is always 1.
    let size = 1 + Int(thread % UInt(MemoryLayout<UInt>.alignment))
    return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) {
      StackPlace(thread: thread, address: UInt(bitPattern: $0.baseAddress))
    }
  }

  /// Whether this is on the same stack as another place, and at least one function call further up.
  func isAbove(_ other: StackPlace) -> Bool {
    // Stacks grow downwards on all of Swift's systems.
    thread == other.thread && address < other.address && other.address - address >= 256
  }
}
