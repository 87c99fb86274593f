extension String {
  /// The text in one line. Invisible characters, and those that move the cursor, are escaped as in a Swift
  /// literal.
  var printable: String {
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar.isPrintable {
        text.append(scalar)
      } else {
        text.append(contentsOf: scalar.escaped(asASCII: true).unicodeScalars)
      }
    }
    return String(text)
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
