/// The scalars of a text in UTF-8, and the bytes in it that are not UTF-8, one after the other.
struct UTF8Pieces: IteratorProtocol {
  enum Piece {
    case scalar(Unicode.Scalar)
    case invalid(UInt8)
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: some Sequence<UInt8>) {
    rest = Array(bytes)[...]
  }

  mutating func next() -> Piece? {
    guard let first = rest.first else { return nil }
    // A scalar is encoded in one to four bytes. What is valid at one length is not at another.
    for length in 1...4 where length <= rest.count {
      guard let text = String(validating: rest.prefix(length), as: UTF8.self) else { continue }
      rest.removeFirst(length)
      return text.unicodeScalars.first.map(Piece.scalar)
    }
    rest.removeFirst()
    return .invalid(first)
  }
}
