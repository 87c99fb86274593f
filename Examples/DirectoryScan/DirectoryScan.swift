import Foundation
import Multicast
import MulticastFoundation

/// A pipe that Ctrl-C closes: a signal handler may do that, and any thread may ask.
///
/// Unsafe, because both read it without a lock. It is filled once, before the handler is installed and the scan begins.
/// Nothing changes or frees it afterwards.
nonisolated(unsafe) private let interruption = UnsafeMutablePointer<Int32>.allocate(capacity: 2)

/// Whether Ctrl-C was pressed.
var isInterrupted: Bool {
  var end = pollfd(fd: interruption[0], events: 0, revents: 0)
  return poll(&end, 1, 0) > 0
}

/// The program, which alone knows all listeners.
@main @MainActor enum DirectoryScan {
  private static let usage = """
    Usage: DirectoryScan [--json FILE] [--wiring FILE] [--timeline FILE] [--slow TIME] [--quiet]
                         [--] PATH

    Scans the folder PATH and reports how many files and bytes it has, which files have the same
    content, and what could not be read. Links are counted and never followed, except PATH. Ctrl-C
    ends the scan with a report of what was found so far.

      --json FILE      Write the report to FILE as well, as JSON.
      --wiring FILE    Write to FILE, in Mermaid, a picture of the program's listeners.
      --timeline FILE  Write to FILE when each listener was called, for ui.perfetto.dev and
                       chrome://tracing. A FILE of - is standard output, which then gets no text.
      --slow TIME      Write to standard error a line for every call of a listener that takes TIME
                       or longer: a whole number of us, ms or s, as in 1ms.
      --quiet          Show no progress. Otherwise standard error shows it in a line every second.
      -h, --help       Show this text.
      --               End the options: what follows is PATH, even if it begins with a hyphen.

    Exit status: 0, or 1 if something could not be read or written or there are broken links or
    link cycles, 64 if the arguments are wrong, 130 after Ctrl-C.
    """

  static func main() async {
    // Otherwise, a file that is opened could become standard output, if that was closed.
    while (0...2).contains(open("/dev/null", O_RDONLY)) {}
    signal(SIGPIPE, SIG_IGN)
    let options = Options(CommandLine.arguments.dropFirst())
    if options.values["--help"] != nil { return print(usage) }
    if let problem = options.problem { complain("\(problem)\n\n\(usage)") }
    exit(options.problem == nil ? await scan(options) : EX_USAGE)
  }

  /// Scans, writes the reports, and returns the exit status.
  private static func scan(_ options: Options) async -> Int32 {
    var status = stat()
    let error = stat(options.path, &status) == 0 ? nil : String(cString: strerror(errno))
    if error != nil || status.st_mode & S_IFMT != S_IFDIR {
      let problem = error.map { "cannot be scanned (\($0)); check the path" }
      complain("\(options.path): \(problem ?? "not a folder; give the path of a folder")")
      return 1
    }
    pipe(interruption)
    signal(SIGINT) { _ in
      // Another Ctrl-C ends the program.
      close(interruption[1])
      signal(SIGINT, SIG_DFL)
    }
    let timeline = options.values["--timeline"].map { _ in DeliveryTimeline() }
    let sayIfSlow = options.slow.map(sayCalls)
    let record: @Sendable (DeliveryEvent) -> Void = { event in
      timeline?.record(event)
      sayIfSlow?(event)
    }
    let isReported = timeline != nil || sayIfSlow != nil
    let center = MulticastCenter(onDelivery: isReported ? record : nil)
    let view = options.values["--quiet"] == nil ? ProgressView(center: center) : nil
    defer { extendLifetime(view) }
    let (report, wiring) = await listen(to: options.path, center)
    let texts = [
      "--json": report.json, "--wiring": wiring,
      "--timeline": timeline.map { String(decoding: $0.json, as: UTF8.self) } ?? "",
    ]
    var outputs = texts.compactMap { option, text in options.values[option].map { ($0, text) } }
    if !options.values.values.contains("-") { outputs.append(("-", report.text)) }
    let failures = outputs.filter { !write($1, to: $0) }
    if report.interrupted { return 130 }
    return report.problems.isEmpty && failures.isEmpty ? 0 : 1
  }

  /// Scans with listeners whose home is the actor in which the scanner notifies.
  @ScanActor private static func listen(
    to path: String, _ center: MulticastCenter
  ) -> (Report, wiring: String) {
    let (totals, duplicates, problems) = (Totals(center: center), Duplicates(), Problems())
    for listener in [totals, duplicates, problems] as [any ScanListener] {
      center.add(listener, for: ScanListener.self)
    }
    Scanner(center: center).scan(path)
    let report = Report(
      path: path, interrupted: isInterrupted, totals: totals.totals,
      duplicates: duplicates.groups.sorted { $0[0].path < $1[0].path },
      problems: problems.problems.sorted { $0.path < $1.path })
    return (report, center.wiring.mermaid)
  }

  /// Writes a text to a file, or to standard output if its path is `-`. Complains of an error.
  private static func write(_ text: String, to path: String) -> Bool {
    let file = path == "-" ? fdopen(dup(STDOUT_FILENO), "w") : fopen(path, "w")
    // The reader of a pipe may close it.
    if let file, fputs(text, file) >= 0 || errno == EPIPE, fclose(file) == 0 || errno == EPIPE {
      return true
    }
    let problem =
      "cannot be written (\(String(cString: strerror(errno)))); check that its folder exists"
    complain("\(path == "-" ? "standard output" : path): \(problem) and has room for it")
    return false
  }

  /// Returns a callback that prints each call of a listener that takes at least `limit` nanoseconds.
  private static func sayCalls(slowerThan limit: UInt64) -> @Sendable (DeliveryEvent) -> Void {
    { event in
      if case .called(_, let time) = event.phase, time >= limit { say("\(event)") }
    }
  }

  private static func complain(_ message: String) { say("DirectoryScan: error: \(message)") }
}

private struct Options {
  var path = ""
  var values: [String: String] = [:]  // empty for an option that has none
  var problem: String?

  var slow: UInt64? {
    guard let text = values["--slow"] else { return nil }
    let digits = text.prefix { ("0"..."9").contains($0) }.prefix(9)
    let units: [Substring: UInt64] = ["us": 1_000, "ms": 1_000_000, "s": 1_000_000_000]
    guard let unit = units[text.dropFirst(digits.count)] else { return nil }
    return UInt64(digits).map { $0 * unit }
  }

  init(_ arguments: some Sequence<String>) {
    var (rest, optionsEnded) = (Array(arguments)[...], false)
    while problem == nil, let argument = rest.popFirst() {
      switch optionsEnded || !argument.hasPrefix("-") ? "" : argument {
      case "":
        if path != "" { problem = "one PATH only, not \"\(argument)\" as well" }
        if argument == "" { problem = "PATH is empty" }
        path = argument
      case "--": optionsEnded = true
      case "--quiet": values[argument] = ""
      case "--help", "-h":
        values = ["--help": ""]
        return
      case "--json", "--wiring", "--timeline", "--slow":
        if values[argument] != nil { problem = "\(argument) is given twice" }
        values[argument] = rest.popFirst() ?? ""
        if values[argument] == "" { problem = problem ?? "\(argument) needs a FILE" }
        if argument == "--slow", slow == nil { problem = "--slow needs a TIME, as in 1ms or 2s" }
      default: problem = "unknown option \"\(argument)\""
      }
    }
    let toOutput = ["--json", "--wiring", "--timeline"].filter { values[$0] == "-" }
    if toOutput.count > 1 {
      problem = "\(toOutput[0]) and \(toOutput[1]) cannot both go to standard output"
    }
    if problem == nil, path == "" { problem = "PATH is missing" }
  }
}
