/// Hashing of addresses, which need no secret seed: nobody chooses them from outside.
enum Hashing {
  private static var factor: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// The place of an address in a table with this number of bits, which is 1 or more.
  ///
  /// Addresses differ in their middle bits, often by the same distance. A product carries them up, and its
  /// top bits depend on all of them; but there are distances at which one product puts many addresses next
  /// to each other. A second one of what the first has mixed leaves no such distance.
  static func place(of address: UInt, bits: Int) -> Int {
    var mixed = UInt64(address) &* factor
    mixed ^= mixed >> 32
    return Int(truncatingIfNeeded: (mixed &* factor) >> UInt64(64 &- bits))
  }
}
