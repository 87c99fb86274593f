struct Arguments {
  struct UsageError: Error { let problem: String }

  private(set) var path: Path = ""
  private(set) var isQuiet = false
  private(set) var isHelp = false

  /// The shortest call of a listener that is printed; nil for none.
  private(set) var slow: Duration?
  private var files: [String: Path] = [:]

  var json: Path? { files["--json"] }
  var wiring: Path? { files["--wiring"] }

  /// Reads the arguments as bytes. `CommandLine.arguments` loses those that are not UTF-8.
  init() throws(UsageError) {
    var rest = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { Path(cString: $0) }
    }[...]
    var optionsEnded = false
    while let argument = rest.popFirst() {
      let option = optionsEnded ? "" : String(decoding: argument.bytes, as: UTF8.self)
      switch option {
      case "--": optionsEnded = true
      case "--quiet": isQuiet = true
      case "--slow":
        if slow != nil { throw UsageError(problem: "--slow stands twice") }
        slow = rest.popFirst().flatMap { Duration(argument: $0.bytes) }
        if slow == nil { throw UsageError(problem: "--slow needs a TIME, as in 1ms, 500us or 2s") }
      case "--json", "--wiring":
        if files[option] != nil { throw UsageError(problem: "\(option) stands twice") }
        files[option] = rest.popFirst()
        if files[option, default: ""] == "" { throw UsageError(problem: "\(option) needs a FILE") }
      case "--help", "-h":
        isHelp = true
        return
      case _ where option.hasPrefix("-"):
        throw UsageError(problem: "unknown option \"\(argument)\"")
      default:
        if path != "" { throw UsageError(problem: "one PATH only, not \"\(argument)\" as well") }
        if argument == "" { throw UsageError(problem: "PATH is empty") }
        path = argument
      }
    }
    if json == .dash, wiring == .dash {
      throw UsageError(problem: "--json and --wiring cannot both go to standard output")
    }
    if path == "" { throw UsageError(problem: "PATH is missing") }
  }

  static let usage = """
    Usage: DirectoryScan [--json FILE] [--wiring FILE] [--slow TIME] [--quiet] [--] PATH

    Scans the folder PATH and reports how many files and bytes it has, by extension, which files
    are the largest, which have the same content, and what could not be read. Everything shown
    comes from listeners that the scanner does not know.

      --json FILE    Write the report to FILE as well, as JSON. If FILE is -, write it to standard
                     output, and no text.
      --wiring FILE  Write to FILE, in Mermaid, a picture of who listens to what in this program.
                     If FILE is -, write it to standard output, and no text.
      --slow TIME    Write to standard error a line for every call of a listener that takes TIME or
                     longer: a whole number of us, ms or s, as in 1ms.
      --quiet        Show no progress. Otherwise standard error shows it: in a bar if it is a
                     terminal, in a line every second if not.
      -h, --help     Show this text.
      --             End the options: what follows is PATH, even if it begins with a hyphen.

    Symbolic links are counted and never followed, except PATH. A broken link leads to nothing. A
    link cycle is a link to itself, directly or through others, or to a folder that it stands in.
    Devices, pipes and sockets are counted and never opened. A file with several names is counted
    under each, and is no duplicate of itself. Empty files are no duplicates. Files on other devices
    that are mounted in PATH are scanned, too.

    A name is shown on one line: what cannot be printed is escaped, as in \\n, \\u{7} and, for a
    byte that is not UTF-8, \\xFF. In JSON, a path that is not UTF-8 has U+FFFD in its place, and
    its bytes stand beside it in base64, as pathBytes.

    Ctrl-C ends the scan with a report of what was found so far.

    Exit status: 0, or 1 if something could not be read or written or there are broken links or
    link cycles, 64 if the arguments are wrong, 130 after Ctrl-C.
    """
}

extension Duration {
  /// Reads a whole number and a unit; nil for any other text.
  fileprivate init?(argument: some Sequence<UInt8>) {
    let text = String(decoding: Array(argument), as: UTF8.self)
    guard let match = text.wholeMatch(of: /([0-9]+)(us|ms|s)/), let number = Int64(match.1),
      number <= 1_000_000_000
    else { return nil }
    switch match.2 {
    case "us": self = .microseconds(number)
    case "ms": self = .milliseconds(number)
    default: self = .seconds(number)
    }
  }
}
