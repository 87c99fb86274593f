/// The place and cause of invalid events, with a remedy.
struct InputError: Error {
  let source: EventSource
  /// Counted from 1; nil if the source itself cannot be read.
  var line: Int?
  let problem: String
}

extension InputError: CustomStringConvertible {
  /// The error in one line, which begins with the place as editors read it.
  var description: String {
    let place = line.map { "\(source):\($0)" } ?? "\(source)"
    return "\(place): error: \(problem)"
  }
}
