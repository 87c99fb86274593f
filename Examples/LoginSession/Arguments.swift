enum Arguments {
  case tour
  case trace
  case playback(EventSource)
  case help
}

extension Arguments {
  /// An invalid command line.
  struct UsageError: Error {
    let problem: String
  }

  static let usage = """
    Usage: LoginSession [--input FILE | --trace]

    Plays a login session with MulticastCenter.default, and explains what happens.

      --input FILE  Play the events of FILE instead; a FILE of - is standard input.
      --trace       Play a short session instead, and show who is called, when and for how long.
      -h, --help    Show this text.

    FILE has an event a line: login <id> or logout. An id is a whole number from 0 to
    \(UInt.max). Blank lines are skipped; there are no comments. Nothing is played
    if any line is malformed.
    """

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    self = .tour
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch (argument, self) {
      case ("--help", _), ("-h", _):
        self = .help
        return
      case ("--input", .tour):
        guard let path = rest.next(), !path.isEmpty else {
          throw UsageError(problem: "--input needs a FILE")
        }
        self = .playback(path == "-" ? .standardInput : .file(path))
      case ("--trace", .tour): self = .trace
      case ("--input", .playback), ("--trace", .trace):
        throw UsageError(problem: "\(argument) stands twice")
      case ("--input", _), ("--trace", _):
        throw UsageError(problem: "--input and --trace cannot stand together")
      default:
        throw UsageError(problem: "unknown argument \(argument.debugDescription)")
      }
    }
  }
}
