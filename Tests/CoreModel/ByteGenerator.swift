/// Random numbers that are read from bytes, one number a byte, so that a byte taken out of them is a
/// decision taken out of a run.
public struct ByteGenerator: RandomNumberGenerator {
  private var bytes: ArraySlice<UInt8>

  /// Goes on where the bytes end: the standard library asks again until it likes a number.
  private var rest = SeededGenerator(seed: 0)

  /// The numbers that these bytes stand for.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
  }

  /// The next number. Its highest bits, which decide in small ranges, are the next byte.
  public mutating func next() -> UInt64 {
    bytes.popFirst().map { UInt64($0) &* 0x0101_0101_0101_0101 } ?? rest.next()
  }
}
