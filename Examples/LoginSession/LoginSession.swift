import Foundation

@main
enum LoginSession {
  private static let usage = """
    Usage: LoginSession [--input FILE | --trace]

    Plays a login session with MulticastCenter.default, and explains what happens.

      --input FILE  Play the events of FILE instead; a FILE of - is standard input.
      --trace       Play a short session instead, and show who is called, when and for how long.
      -h, --help    Show this text.

    FILE has an event a line: login <id> or logout. An id is a whole number from 0 to
    \(UInt.max). Blank lines are skipped; there are no comments. Nothing is played
    if any line is malformed.
    """

  static func main() async {
    do {
      try await play(CommandLine.arguments.dropFirst())
    } catch {
      FileHandle.standardError.write(Data((error.message + "\n").utf8))
      exit(error.status)
    }
  }

  private static func play(_ arguments: some Sequence<String>) async throws(UserError) {
    var kind: String?
    var path = ""
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--help", "-h": return print(usage)
      case "--input", "--trace":
        if kind == argument { throw misuse("\(argument) stands twice") }
        if kind != nil { throw misuse("--input and --trace cannot stand together") }
        kind = argument
        if argument == "--input" {
          path = rest.next() ?? ""
          if path.isEmpty { throw misuse("--input needs a FILE") }
        }
      default: throw misuse("unknown argument \(argument.debugDescription)")
      }
    }
    switch kind {
    case "--input": try App().play(path == "-" ? nil : path)
    case "--trace": await TraceTour().play()
    default: await Tour().play()
    }
  }

  private static func misuse(_ problem: String) -> UserError {
    // EX_USAGE in sysexits.h.
    UserError("LoginSession: error: \(problem)\n\n\(usage)", status: 64)
  }
}

/// What a user has done wrong, with a remedy.
struct UserError: Error {
  let message: String
  let status: Int32

  init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }
}
