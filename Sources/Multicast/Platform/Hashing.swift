/// Hashes addresses. `Hasher` would be slower, and its secret seed is not needed, because no attacker chooses the addresses.
enum Hashing {
  /// An odd number with an irregular pattern of bits: 2⁶⁴ divided by the golden ratio.
  static var factor: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// Returns the index of an address in a table of 2^`bits` entries. `bits` must be at least 1.
  ///
  /// Addresses differ in their middle bits, often by a constant distance. A multiplication carries these bits up to the top
  /// ones, which are the index. With one multiplication alone, the indices of some distances cluster. So this combines the
  /// upper 64 bits of the product with the lower ones, and multiplies again.
  static func index(of address: UInt, bits: Int) -> Int {
    let product = UInt64(address).multipliedFullWidth(by: factor)
    let mixed = product.high ^ product.low
    return Int(truncatingIfNeeded: (mixed &* factor) >> UInt64(64 &- bits))
  }
}

extension ObjectIdentifier {
  /// The object's address; never 0.
  var address: UInt { UInt(bitPattern: self) }
}
