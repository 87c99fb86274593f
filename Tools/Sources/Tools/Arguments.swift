/// The command line, taken from its front.
struct Arguments {
  private var rest: ArraySlice<String>

  init(_ arguments: some Sequence<String>) {
    rest = Array(arguments)[...]
  }

  mutating func next() -> String? { rest.popFirst() }

  /// The next argument, which has to be there.
  mutating func next(_ name: String) throws -> String {
    guard let argument = next() else { throw UsageError("\(name) is missing") }
    return argument
  }

  /// All that have not been taken.
  mutating func remaining() -> [String] {
    defer { rest = [] }
    return Array(rest)
  }
}

/// A command line that says nothing sensible.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = "Tools: \(description)"
  }
}
