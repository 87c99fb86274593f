/// Something wrong at a place in a file, in the form that compilers print and editors jump to.
struct Problem: Error, Equatable, CustomStringConvertible {
  let file: String
  let line: Int
  let message: String

  var description: String { "\(file):\(line): error: \(message)" }
}

/// All that a command has found, one a line.
struct Problems: Error, CustomStringConvertible {
  let description: String

  init(_ problems: some Sequence<String>) {
    description = problems.joined(separator: "\n")
  }
}
