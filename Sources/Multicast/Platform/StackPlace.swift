/// A place on a thread's stack.
struct StackPlace: Sendable {
  /// Where the thread keeps a value of its own: an address that no other living thread has.
  private let thread: UInt
  private let address: UInt

  /// The place where this is asked, or one a few frames above it.
  static var current: StackPlace {
    let thread = unsafe UInt(bitPattern: DeliveryChain.ofThreads.address)
    // The address sanitizer keeps variables, and all whose size the compiler knows, outside of the stack. The
    // size depends on an address, so the compiler does not know that it is always one byte.
    let size = 1 + Int(thread % UInt(MemoryLayout<UInt>.alignment))
    return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) {
      StackPlace(thread: thread, address: UInt(bitPattern: $0.baseAddress))
    }
  }

  /// Whether this is on the same stack as another place, and so much further up that there is at least one
  /// call of a function between them.
  func isAbove(_ other: StackPlace) -> Bool {
    // Stacks grow downwards on all systems that Swift runs on.
    thread == other.thread && address < other.address && other.address - address >= 256
  }
}
