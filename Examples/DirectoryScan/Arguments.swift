/// What the command line asks for.
enum Arguments {
  case scan(Options)
  case help

  struct Options {
    var path: Path
    var json: Output?
    var wiring: Output?
    var isQuiet = false
  }
}

extension Arguments {
  /// A command line that cannot be understood.
  struct UsageError: Error {
    let problem: String
  }

  static let usage = """
    Usage: DirectoryScan [--json FILE] [--wiring FILE] [--quiet] [--] PATH

    Walks over the folder PATH, and reports how many files and bytes it has, by extension, which
    files are the largest, which have the same content, and what could not be read.

      --json FILE    Write the report to FILE as well, as JSON. If FILE is -, write it to standard
                     output, and no text.
      --wiring FILE  Write to FILE, in Mermaid, a picture of who listens to what in this program.
                     If FILE is -, write it to standard output, and no text.
      --quiet        Show no progress. Else it is shown on standard error: as a bar if this is a
                     terminal, or else in a line every second.
      -h, --help     Show this text.
      --             End the options: what follows is PATH, even if it begins with a hyphen.

    Symbolic links are counted and never followed, except PATH. A link to what does not exist is a
    broken link. A link to itself, by way of other links or not, or to a folder that it stands in
    is a link cycle. Devices, pipes and sockets are counted and never opened. A file with several
    names is counted under each, and is no duplicate of itself. Empty files are no duplicates.
    Files on other devices that are mounted in PATH are scanned, too.

    A name is shown on one line: what cannot be printed is escaped, as in \\n, \\u{7} and, for a
    byte that is not UTF-8, \\xFF. In JSON, a path that is not UTF-8 has U+FFFD in its place, and
    its bytes stand beside it in base64, as pathBytes.

    Ctrl-C ends the scan with a report of what was found so far.

    Exit status: 0, or 1 if something could not be read or written or there are broken links or
    link cycles, 64 if the arguments are wrong, 130 after Ctrl-C.
    """

  /// Reads the arguments that follow the program's name, each in the bytes that the system holds.
  init(_ arguments: some Sequence<[UInt8]>) throws(UsageError) {
    var path: Path?
    var json: Output?
    var wiring: Output?
    var isQuiet = false
    var optionsEnded = false
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      let text = String(decoding: argument, as: UTF8.self)
      switch text {
      case "--" where !optionsEnded:
        optionsEnded = true
      case "--help" where !optionsEnded, "-h" where !optionsEnded:
        self = .help
        return
      case "--quiet" where !optionsEnded:
        isQuiet = true
      case "--json" where !optionsEnded:
        guard json == nil else { throw UsageError(problem: "--json stands twice") }
        json = try Self.output(rest.next(), of: text)
      case "--wiring" where !optionsEnded:
        guard wiring == nil else { throw UsageError(problem: "--wiring stands twice") }
        wiring = try Self.output(rest.next(), of: text)
      case _ where !optionsEnded && text.hasPrefix("-"):
        throw UsageError(problem: "unknown option \"\(escaped(argument))\"")
      default:
        guard path == nil else {
          throw UsageError(problem: "one PATH only, not \"\(escaped(argument))\" as well")
        }
        guard !argument.isEmpty else { throw UsageError(problem: "PATH is empty") }
        path = Path(argument)
      }
    }
    if json == .standardOutput, wiring == .standardOutput {
      throw UsageError(problem: "--json and --wiring cannot both go to standard output")
    }
    guard let path else { throw UsageError(problem: "PATH is missing") }
    self = .scan(Options(path: path, json: json, wiring: wiring, isQuiet: isQuiet))
  }

  /// Where an option's FILE says that something goes.
  private static func output(
    _ file: [UInt8]?, of option: String
  ) throws(UsageError) -> Output {
    guard let file, !file.isEmpty else { throw UsageError(problem: "\(option) needs a FILE") }
    return file == Array("-".utf8) ? .standardOutput : .file(Path(file))
  }
}
