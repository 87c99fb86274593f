/// Hashes addresses. They need no secret seed, because no attacker chooses them.
enum Hashing {
  private static var factor: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// The index of an address in a table of 2^`bits` entries. `bits` is at least 1.
  ///
  /// Addresses differ in their middle bits, often by a constant distance. A product carries these bits up to
  /// the top ones. For some distances, a single product clusters the results. A second product of the mixed
  /// value does not.
  static func index(of address: UInt, bits: Int) -> Int {
    var mixed = UInt64(address) &* factor
    mixed ^= mixed >> 32
    return Int(truncatingIfNeeded: (mixed &* factor) >> UInt64(64 &- bits))
  }
}

extension ObjectIdentifier {
  /// The object's address; never 0.
  var address: UInt { UInt(bitPattern: self) }
}
