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
      generator: ByteGenerator(bytes.dropFirst()))
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
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    bytes = stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(digits[index] << 4 | digits[index + 1])
    }
  }
}
