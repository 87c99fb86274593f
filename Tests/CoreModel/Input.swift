/// The bytes that a run of the model is made from.
public struct Input: Hashable, Sendable {
  /// The first byte is the maximum of clients; an operation needs about three of the others.
  public var bytes: [UInt8]

  /// An input of these bytes.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// What the delegate and the model differ in; nil if in nothing.
  public func mismatch() -> Mismatch? {
    guard let first = bytes.first else { return nil }
    let model = Model(
      operations: bytes.count / 3, maximumOfClients: Int(first) + 1,
      generator: ByteGenerator(Array(bytes.dropFirst())))
    do throws(Mismatch) {
      try model.run()
      return nil
    } catch {
      return error
    }
  }

  /// A shorter input that fails too, if this one does: without each part that it fails without.
  ///
  /// - Parameter fails: Whether an input fails; in tests, something that needs no faulty delegate.
  public func reduced(where fails: (Input) -> Bool = { $0.mismatch() != nil }) -> Input {
    var input = self
    var length = bytes.count / 2
    while length > 0 {
      var start = 0
      var isShorter = false
      while start < input.bytes.count {
        var shorter = input
        shorter.bytes.removeSubrange(start..<min(start + length, input.bytes.count))
        if fails(shorter) {
          input = shorter
          isShorter = true
        } else {
          start += length
        }
      }
      // What came behind a part may make an earlier one dispensable.
      if !isShorter { length /= 2 }
    }
    return input
  }
}

// MARK: - As text

extension Input: CustomStringConvertible {
  /// The bytes as hexadecimal digits.
  public var description: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  /// Reads what ``description`` has written; nil for anything else.
  public init?(_ text: String) {
    guard text.utf8.count.isMultiple(of: 2) else { return nil }
    var digits = text.utf8.makeIterator()
    var bytes: [UInt8] = []
    while let high = digits.next(), let low = digits.next() {
      guard let high = UInt8(hexDigit: high), let low = UInt8(hexDigit: low) else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }
}

extension UInt8 {
  fileprivate init?(hexDigit: UInt8) {
    guard let value = Character(Unicode.Scalar(hexDigit)).hexDigitValue else { return nil }
    self = UInt8(value)
  }
}
