/// Why events cannot be read: where, what is wrong, and what to do about it.
struct InputError: Error {
  let source: EventSource
  /// Counted from 1; nil for what is wrong with the source as a whole.
  var line: Int?
  let problem: String
}

extension InputError: CustomStringConvertible {
  /// The error in one line, which begins with the place in the form that editors jump to.
  var description: String {
    let place = line.map { "\(source):\($0)" } ?? "\(source)"
    return "\(place): error: \(problem)"
  }
}
