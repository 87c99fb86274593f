import Foundation

/// The comparing of two files of equal size, as far as it has come.
struct Comparison: SlicedWork {
  let first: File
  let other: File
  private var offset = 0

  /// Whether the two are equal as far as they were read.
  private(set) var isEqual = true

  init(_ first: File, _ other: File) {
    self.first = first
    self.other = other
  }

  /// What is left to be read of each.
  var bytesLeft: Int { isEqual ? first.bytes - offset : 0 }

  /// Reads the next slice of both, as far as they are equal.
  mutating func proceed() throws(ContentError) {
    let firstContent = try Content(of: first)
    let otherContent = try Content(of: other)
    let end = offset + min(bytesLeft, Content.slice)
    while offset < end, isEqual {
      offset += try firstContent.withPart(of: offset..<end) { (part) throws(ContentError) in
        isEqual = try otherContent.withPart(of: offset..<end) { part.isEqual(to: $0) }
        return part.count
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether another buffer of the same length has the same bytes.
  fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
    return memcmp(start, otherStart, count) == 0
  }
}
