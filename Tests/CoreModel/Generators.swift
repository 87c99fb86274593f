/// Random numbers that a seed repeats (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Creates the sequence of a seed.
  public init(seed: UInt64) {
    state = seed
  }

  /// Returns the next number of the sequence.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random numbers read from bytes, one for each byte. If you remove a byte, the run makes one decision less.
struct ByteGenerator: RandomNumberGenerator {
  private var bytes: ArraySlice<UInt8>

  /// Supplies numbers after the last byte, because the standard library asks again until a number fits its range.
  private var rest = SeededGenerator(seed: 0)

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// Returns a number whose highest bits, which decide in small ranges, are the next byte.
  mutating func next() -> UInt64 {
    bytes.popFirst().map { UInt64($0) &* 0x0101_0101_0101_0101 } ?? rest.next()
  }
}
