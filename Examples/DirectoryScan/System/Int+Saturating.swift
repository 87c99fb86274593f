extension Int {
  /// Adds a length, and stops at the greatest number: a few sparse files may well be longer together.
  mutating func addSaturating(_ length: Int) {
    let (sum, overflows) = addingReportingOverflow(length)
    self = overflows ? .max : sum
  }
}
