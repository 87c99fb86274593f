extension String {
  /// The text in one line. Characters that are invisible or move the cursor are escaped as in a Swift literal, so that a name
  /// cannot disguise a report.
  var printable: String {
    unicodeScalars.map { $0.isPrintable ? String($0) : $0.escaped(asASCII: true) }.joined()
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
