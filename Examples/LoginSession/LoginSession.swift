import Foundation

@main @MainActor enum LoginSession {
  private static let usage = """
    Usage: LoginSession [--tour | --trace | --timeline FILE | --input FILE]

    Plays a login session, and shows when and where each client is called.

      --tour           Explain each rule, step by step.
      --trace          Show every event of a center's deliveries.
      --timeline FILE  Write a session's deliveries to FILE, for ui.perfetto.dev and chrome://tracing.
      --input FILE     Play the events of FILE; a FILE of - is standard input.
      -h, --help       Show this text.

    An input FILE has an event a line: login <id> or logout. An id is a whole number from 0 to
    \(UInt.max). Blank lines are skipped; there are no comments. Nothing is played
    if any line is malformed. Colors are for terminals; NO_COLOR=1 switches them off.
    """

  static func main() async {
    // The main actor runs on the main queue.
    DispatchQueue.main.setSpecific(key: homeName, value: "main actor")
    do {
      try await play(CommandLine.arguments.dropFirst())
    } catch {
      FileHandle.standardError.write(Data((error.message + "\n").utf8))
      exit(error.status)
    }
  }

  private static func play(_ arguments: some Sequence<String>) async throws(UserError) {
    var mode: String?
    var path = ""
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--help", "-h": return print(usage)
      case "--tour", "--trace", "--timeline", "--input":
        if mode == argument { throw misuse("\(argument) is given twice") }
        if let mode { throw misuse("\(mode) and \(argument) cannot be combined") }
        mode = argument
        if argument == "--input" || argument == "--timeline" {
          path = rest.next() ?? ""
          if path.isEmpty { throw misuse("\(argument) needs a FILE") }
        }
      default: throw misuse("unknown argument \(argument.debugDescription)")
      }
    }
    switch mode {
    case "--tour": await Tour().play()
    case "--trace": await TraceTour().play()
    case "--timeline": try await TimelineTour().play(path)
    case "--input": try App().play(path == "-" ? nil : path)
    default: await Show().play()
    }
  }

  private static func misuse(_ problem: String) -> UserError {
    // EX_USAGE in sysexits.h.
    UserError("LoginSession: error: \(problem)\n\n\(usage)", status: 64)
  }
}

/// A mistake of the user, and how to correct it.
struct UserError: Error {
  let message: String
  let status: Int32

  init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }
}
