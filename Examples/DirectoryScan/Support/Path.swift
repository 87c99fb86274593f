import Foundation

/// A path or a name as bytes. Foundation loses those that are not UTF-8.
struct Path: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  let bytes: [UInt8]

  static let dash: Path = "-"
  static let slash = UInt8(ascii: "/")

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  init(stringLiteral text: String) { self.init(text.utf8) }

  /// The name in a directory entry, which may be longer or shorter than the entry's type.
  init(nameIn entry: UnsafeMutablePointer<dirent>) {
    let name = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
    self.init(cString: name.assumingMemoryBound(to: CChar.self))
  }

  init(cString: UnsafePointer<CChar>) {
    self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
  }

  static func < (one: Path, other: Path) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }

  func appending(_ name: Path) -> Path {
    Path(bytes + (bytes.last == Self.slash ? [] : [Self.slash]) + name.bytes)
  }

  /// The path without slashes at its end, except for the root folder.
  var withoutSlashesAtEnd: Path {
    bytes.lastIndex { $0 != Self.slash }.map { Path(bytes[...$0]) } ?? self
  }

  /// The part after the last dot of the name, unless the name begins with that dot.
  var lowercasedExtension: Path {
    let name = bytes[(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)...]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "" }
    return Path(name[(dot + 1)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
  }
}

extension Path: CustomStringConvertible {
  /// The path on one line. Bytes that cannot be printed are escaped.
  var description: String {
    var line = ""
    var input = bytes.makeIterator()
    var rest = bytes[...]
    var parser = Unicode.UTF8.ForwardParser()
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let encoded):
        line += Unicode.UTF8.decode(encoded).shown
        rest.removeFirst(encoded.count)
      case .error(let length):
        for byte in rest.prefix(length) { line += #"\x\#(String(byte, radix: 16).uppercased())"# }
        rest.removeFirst(length)
      case .emptyInput:
        return line
      }
    }
  }
}

extension Unicode.Scalar {
  /// The scalar as a terminal can show it on one line.
  fileprivate var shown: String {
    switch (self, properties.generalCategory) {
    case ("\\", _): #"\\"#
    case ("\n", _): #"\n"#
    case ("\r", _): #"\r"#
    case ("\t", _): #"\t"#
    // Many scripts and emoji need the two joiners. Other format characters may change the direction
    // of the line.
    case ("\u{200C}", _), ("\u{200D}", _): String(self)
    case (_, .control), (_, .format), (_, .lineSeparator), (_, .paragraphSeparator),
      (_, .unassigned), (_, .privateUse):
      #"\u{\#(String(value, radix: 16).uppercased())}"#
    default: String(self)
    }
  }
}
