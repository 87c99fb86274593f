import Foundation

/// A path or a name, in the bytes that the system knows: Foundation loses those that are not UTF-8.
struct Path: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  let bytes: [UInt8]

  static let dash: Path = "-"
  static let slash = UInt8(ascii: "/")

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  init(stringLiteral text: String) { self.init(text.utf8) }

  /// The name in an entry, which may be longer and shorter than the entry's type says.
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

  /// The root folder keeps its slashes.
  var withoutSlashesAtEnd: Path {
    bytes.lastIndex { $0 != Self.slash }.map { Path(bytes[...$0]) } ?? self
  }

  /// What follows the last dot of the name, unless this begins with it.
  var lowercasedExtension: Path {
    let name = bytes[(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)...]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "" }
    return Path(name[(dot + 1)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
  }
}

extension Path: CustomStringConvertible {
  /// The path on one line, from which its bytes can be told: what cannot be printed is escaped.
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
  /// The scalar as a terminal can show it, on one line.
  fileprivate var shown: String {
    switch (self, properties.generalCategory) {
    case ("\\", _): #"\\"#
    case ("\n", _): #"\n"#
    case ("\r", _): #"\r"#
    case ("\t", _): #"\t"#
    // Two joiners, which many scripts and emoji need. Others may turn the direction of the line.
    case ("\u{200C}", _), ("\u{200D}", _): String(self)
    case (_, .control), (_, .format), (_, .lineSeparator), (_, .paragraphSeparator),
      (_, .unassigned), (_, .privateUse):
      #"\u{\#(String(value, radix: 16).uppercased())}"#
    default: String(self)
    }
  }
}
