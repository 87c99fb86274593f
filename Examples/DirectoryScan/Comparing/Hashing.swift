/// The hashing of a file, as far as it has come.
struct Hashing: SlicedWork {
  /// What files of equal content have in common.
  struct Digest: Hashable, Sendable {
    let bytes: Int
    let hash: Int
  }

  let file: File
  private var hasher = Hasher()
  private var offset = 0

  init(_ file: File) {
    self.file = file
  }

  /// What is left to be read.
  var bytesLeft: Int { file.bytes - offset }

  /// The hash of what was read.
  var digest: Digest { Digest(bytes: file.bytes, hash: hasher.finalize()) }

  /// Reads the next slice.
  mutating func proceed() throws(ContentError) {
    let content = try Content(of: file)
    let end = offset + min(bytesLeft, Content.slice)
    while offset < end {
      offset += try content.withPart(of: offset..<end) { part in
        hasher.combine(bytes: part)
        return part.count
      }
    }
  }
}
