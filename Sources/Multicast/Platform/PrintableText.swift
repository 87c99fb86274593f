extension String {
  /// The text in one line. Characters that are invisible or move the cursor are escaped as in a Swift literal, so that a name
  /// cannot disguise a report.
  var printable: String {
    mapScalars { $0.isPrintable ? String($0) : $0.escaped(asASCII: true) }
  }

  /// The text with another text in place of each scalar.
  @inline(never)
  func mapScalars(_ transform: (Unicode.Scalar) -> String) -> String {
    unicodeScalars.map(transform).joined()
  }
}

extension Unicode.Scalar {
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    // Most format characters change the direction of the text. The two joiners do not, and are parts of emoji and of some
    // scripts.
    case .format: self == "\u{200C}" || self == "\u{200D}"
    default: true
    }
  }
}
