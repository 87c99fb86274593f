/// A number and what it counts: `1 file`, `2 files`.
func count(_ number: Int, _ thing: String) -> String {
  "\(number) \(thing)\(number == 1 ? "" : "s")"
}

/// A length in the unit that suits it: `999 B`, `1.0 kB`, `2.5 GB`. A kB is 1000 bytes.
func byteCount(_ bytes: Int) -> String {
  if bytes < 1000 { return "\(bytes) B" }
  var value = Double(bytes)
  var unit = 0
  let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
  // From here on it would be rounded to 1000.0.
  while value >= 999.95 {
    value /= 1000
    unit += 1
  }
  return "\(value.tenths) \(units[unit])"
}

extension Double {
  /// The number with one digit after the point.
  var tenths: String {
    let tenths = Int((self * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}
