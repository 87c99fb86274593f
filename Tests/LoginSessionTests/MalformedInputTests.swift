import Foundation
import Testing

/// Input that cannot be read: one error, which says where, and nothing played.
struct MalformedInputTests {
  private static let fileName = "events.txt"

  private static let needsUserID = "login without a user id; write login <id>, as in login 19000"

  private static func unknown(_ word: String) -> String {
    "unknown event \(word); write login <id> or logout"
  }

  private static func notAUserID(_ word: String) -> String {
    "\(word) is not a user id; write a whole number from 0 to 18446744073709551615"
  }

  @Test(arguments: [
    ("signin 7\n", 1, unknown(#""signin""#)),
    ("LOGIN 7\n", 1, unknown(#""LOGIN""#)),
    ("# a comment\n", 1, unknown(##""#""##)),
    ("login\u{7} 7\n", 1, unknown(#""login\u{07}""#)),
    ("logout\rlogin 7\n", 1, unknown(#""logout\rlogin""#)),
    ("login\n", 1, needsUserID),
    ("login \t\r\n", 1, needsUserID),
    ("login seven\n", 1, notAUserID(#""seven""#)),
    ("login -1\n", 1, notAUserID(#""-1""#)),
    ("login +1\n", 1, notAUserID(#""+1""#)),
    ("login -0\n", 1, notAUserID(#""-0""#)),
    ("login 1.5\n", 1, notAUserID(#""1.5""#)),
    ("login 0x10\n", 1, notAUserID(#""0x10""#)),
    ("login \u{FF11}\n", 1, notAUserID("\"\u{FF11}\"")),
    ("login 18446744073709551616\n", 1, notAUserID(#""18446744073709551616""#)),
    ("login 7 8\n", 1, "login with more than one user id; write a line for each login"),
    ("logout 7\n", 1, #"logout followed by "7"; write logout and nothing else"#),
    // Whatever comes before it, nothing is played, and the line is the one that an editor shows.
    ("login 7\nlogout\nsignin 8", 3, unknown(#""signin""#)),
    ("\n\nlogin 7\n\nsignin 8\nlogout\n", 5, unknown(#""signin""#)),
    ("login 7\r\n\r\nsignin 8\r\n", 3, unknown(#""signin""#)),
    ("\u{FEFF}\nsignin 8\n", 2, unknown(#""signin""#)),
    // Only the first mistake is reported.
    ("login 7\nsignin\nlogin x\n", 2, unknown(#""signin""#)),
  ])
  func malformedLine(_ text: String, line: Int, problem: String) async throws {
    try await expectError("\(line): error: \(problem)", for: Data(text.utf8))
  }

  @Test(arguments: [
    ([0xFF], 1),
    // A letter that is cut off by the end of the line, and one that is encoded in too many bytes.
    (Array("login 7\nlogin ".utf8) + [0xC3, 0x0A], 2),
    (Array("login 7\r\n\r\nlogin ".utf8) + [0xC0, 0xB7], 3),
    // What a text in UTF-16 begins with.
    ([0xFF, 0xFE, 0x6C, 0x00], 1),
  ])
  func invalidUTF8(_ bytes: [UInt8], line: Int) async throws {
    try await expectError(
      "\(line): error: not valid UTF-8; save the file as text in UTF-8", for: Data(bytes))
  }

  @Test func standardInputIsNamed() async throws {
    let outcome = try await Program.run(["--input", "-"], input: Data("login 7\nsignin\n".utf8))

    #expect(
      outcome
        == failure(#"standard input:2: error: unknown event "signin"; write login <id> or logout"#))
  }

  @Test func missingFile() async throws {
    let outcome = try await Program.run(["--input", "missing.txt"])

    #expect(outcome == failure(unreadable("missing.txt", "No such file or directory")))
  }

  @Test func folder() async throws {
    let outcome = try await Program.run(["--input", "."])

    #expect(outcome == failure(unreadable(".", "Is a directory")))
  }

  private func expectError(
    _ error: String, for content: Data, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let outcome = try await Program.run(
      ["--input", Self.fileName], file: (Self.fileName, content))

    #expect(outcome == failure("\(Self.fileName):\(error)"), sourceLocation: sourceLocation)
  }

  private func failure(_ error: String) -> Program.Outcome {
    Program.Outcome(status: 1, output: [], errors: [error])
  }

  private func unreadable(_ name: String, _ reason: String) -> String {
    "\(name): error: cannot be read (\(reason)); check that it exists, that it is a file and "
      + "that you may read it"
  }
}
