/// A path as the system knows it: bytes, which need not be valid UTF-8.
struct Path: Hashable, Sendable {
  let bytes: [UInt8]

  static let slash = UInt8(ascii: "/")
  static let dot = UInt8(ascii: ".")

  init(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// The path of an item of the folder that has this path.
  func appending(_ name: Name) -> Path {
    var bytes = bytes
    bytes.reserveCapacity(bytes.count + 1 + name.count)
    if bytes.last != Self.slash { bytes.append(Self.slash) }
    bytes.append(contentsOf: name)
    return Path(bytes)
  }

  /// The path without the slashes at its end; those of the root folder stay.
  var withoutSlashesAtEnd: Path {
    guard let end = bytes.lastIndex(where: { $0 != Self.slash }) else { return self }
    return Path(bytes[...end])
  }

  /// What follows the last slash.
  var name: ArraySlice<UInt8> {
    bytes[(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)...]
  }
}

/// The name of an item in its folder.
typealias Name = [UInt8]

extension Path: Comparable {
  static func < (one: Path, other: Path) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }
}

extension Path: CustomStringConvertible {
  /// The path on one line, from which its bytes can be told: what cannot be printed is escaped, as in
  /// `\n`, `\u{7}` and, for a byte that is not UTF-8, `\xFF`; a backslash is doubled.
  var description: String { escaped(bytes) }
}

/// Text on one line; see `Path.description`.
func escaped(_ bytes: some Sequence<UInt8>) -> String {
  var line = ""
  var decoder = UTF8Pieces(bytes)
  while let piece = decoder.next() {
    switch piece {
    case .scalar("\\"): line += #"\\"#
    case .scalar("\n"): line += #"\n"#
    case .scalar("\r"): line += #"\r"#
    case .scalar("\t"): line += #"\t"#
    case .scalar(let scalar) where isPrintable(scalar): line.unicodeScalars.append(scalar)
    case .scalar(let scalar): line += #"\u{\#(String(scalar.value, radix: 16, uppercase: true))}"#
    case .invalid(let byte): line += #"\x\#(String(byte, radix: 16, uppercase: true))"#
    }
  }
  return line
}

/// Whether a terminal shows a scalar, and keeps its line as it is.
private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: false
  // The joiners, which many scripts and emoji need. Others may turn the direction of the line.
  case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
  default: true
  }
}
