/// A place on a thread's stack.
struct StackPlace: Sendable {
  /// Where the thread keeps a value of its own: an address that no other living thread has.
  private let thread: UInt
  private let address: UInt

  /// The place where this is asked, or one a few frames above it.
  static var current: StackPlace {
    var here: UInt8 = 0
    let address = unsafe withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
    return unsafe StackPlace(
      thread: UInt(bitPattern: DeliveryChain.ofThreads.address), address: address)
  }

  /// Whether this is on the same stack as another place, and so much further up that there is at least one
  /// call of a function between them.
  func isAbove(_ other: StackPlace) -> Bool {
    // Stacks grow downwards on all systems that Swift runs on.
    thread == other.thread && address < other.address && other.address - address >= 256
  }
}
