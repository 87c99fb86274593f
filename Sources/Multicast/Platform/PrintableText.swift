extension String {
  /// The text in one line. Invisible characters, and those that move the cursor, are escaped as in a Swift
  /// literal.
  var printable: String {
    unicodeScalars.map { $0.isPrintable ? String($0) : $0.escaped(asASCII: true) }.joined()
  }
}

extension Unicode.Scalar {
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    // Most of these change the direction of text. The joiners are part of emoji and of some scripts.
    case .format: self == "\u{200C}" || self == "\u{200D}"
    default: true
    }
  }
}
