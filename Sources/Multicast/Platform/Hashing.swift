/// Hashing of addresses, which need no secret seed: nobody chooses them from outside.
enum Hashing {
  /// Addresses are alike in their high and low bits. The product carries the bits that differ up to
  /// its high half, which is returned.
  static func spread(_ address: UInt) -> Int {
    Int(truncatingIfNeeded: (UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }
}
