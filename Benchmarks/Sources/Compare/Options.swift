/// What the command line asks for.
struct Options {
  var jsonFile: String?
  var svgFile: String?
  var filter: String?
  var isQuick = false
  var isHelp = false
}

extension Options {
  /// A command line that cannot be understood.
  struct UsageError: Error {
    let problem: String
  }

  static let usage = """
    Usage: Compare [--quick] [--filter TEXT] [--json FILE] [--svg FILE]

    Measures Multicast against what would be used instead, all in one run, by turns.

      --quick        Measure less: ends within 20 seconds, with more noise.
      --filter TEXT  Only tables whose title contains TEXT, and rows that do, whatever the case.
                     What the ratios refer to is measured in any case.
      --json FILE    Write the numbers to FILE.
      --svg FILE     Draw the time per delivery over the number of clients in FILE.
      -h, --help     Show this text.

    """

  /// Reads the arguments that follow the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--quick": isQuick = true
      case "--json": jsonFile = try Self.value(of: argument, jsonFile, in: &rest)
      case "--svg": svgFile = try Self.value(of: argument, svgFile, in: &rest)
      case "--filter": filter = try Self.value(of: argument, filter, in: &rest)
      case "-h", "--help":
        isHelp = true
        return
      default: throw UsageError(problem: "unknown argument \(argument.debugDescription)")
      }
    }
  }

  private static func value(
    of option: String, _ former: String?, in rest: inout some IteratorProtocol<String>
  ) throws(UsageError) -> String {
    guard former == nil else { throw UsageError(problem: "\(option) stands twice") }
    guard let value = rest.next(), !value.isEmpty, !value.hasPrefix("--") else {
      throw UsageError(problem: "\(option) needs a value")
    }
    return value
  }
}
