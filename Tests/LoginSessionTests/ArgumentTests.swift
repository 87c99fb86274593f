import Foundation
import Testing

/// The command line.
struct ArgumentTests {
  private static let usage = [
    "Usage: LoginSession [--input FILE | --trace]",
    "",
    "Plays a login session with MulticastCenter.default, and explains what happens.",
    "",
    "  --input FILE  Play the events of FILE instead; a FILE of - is standard input.",
    "  --trace       Play a short session instead, and show who is called, when and for how long.",
    "  -h, --help    Show this text.",
    "",
    "FILE has an event a line: login <id> or logout. An id is a whole number from 0 to",
    "18446744073709551615. Blank lines are skipped; there are no comments. Nothing is played",
    "if any line is malformed.",
  ]

  @Test(arguments: ["--help", "-h"])
  func help(_ argument: String) async throws {
    let outcome = try await Program.run([argument])

    #expect(outcome == Program.Outcome(status: 0, output: Self.usage, errors: []))
  }

  @Test(arguments: [
    (["--verbose"], #"unknown argument "--verbose""#),
    (["events.txt"], #"unknown argument "events.txt""#),
    (["--input=events.txt"], #"unknown argument "--input=events.txt""#),
    ([""], #"unknown argument """#),
    (["--input", "events.txt", "--verbose"], #"unknown argument "--verbose""#),
    (["--input"], "--input needs a FILE"),
    (["--input", ""], "--input needs a FILE"),
    (["--input", "events.txt", "--input", "events.txt"], "--input stands twice"),
    (["--trace", "--trace"], "--trace stands twice"),
    (["--trace", "--input", "events.txt"], "--input and --trace cannot stand together"),
  ])
  func misuse(_ arguments: [String], problem: String) async throws {
    let outcome = try await Program.run(
      arguments, file: ("events.txt", Data("login 7\n".utf8)))

    #expect(
      outcome
        == Program.Outcome(
          status: 64, output: [], errors: ["LoginSession: error: \(problem)", ""] + Self.usage))
  }
}
