extension String {
  /// The text in one line, whatever it holds: what cannot be seen or moves the cursor is written as in
  /// a Swift literal.
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
    // Most of these change the direction of the text. The joiners make one emoji of several, and are part
    // of how some languages are written.
    case .format: self == "\u{200C}" || self == "\u{200D}"
    default: true
    }
  }
}
