import Foundation
import Testing

/// Sessions that are played from a file or from standard input.
struct PlaybackTests {
  @Test func playsAFile() async throws {
    let outcome = try await Program.run(
      ["--input", "events.txt"], file: ("events.txt", Data("login 7\nlogout\nlogin 8\n".utf8)))

    let expected = [
      "A login session: 3 events from events.txt.",
      "An account store announces them to MulticastCenter.default, which calls its clients:",
      "ProfileScreen, Badge, AuditLog.",
      "",
      "> login 7",
      "  ProfileScreen: welcome, user 7",
      "  AuditLog: user 7 logged in",
      "> logout",
      "  Badge: no unread messages any more",
      "  AuditLog: the user logged out",
      "> login 8",
      "  ProfileScreen: welcome, user 8",
      "  AuditLog: user 8 logged in",
      "",
      "Still listening: ProfileScreen, Badge, AuditLog.",
    ]
    #expect(outcome == Program.Outcome(status: 0, output: expected, errors: []))
  }

  @Test func playsStandardInput() async throws {
    let outcome = try await Program.run(["--input", "-"], input: Data("logout\n".utf8))

    let expected = [
      "A login session: 1 event from standard input.",
      "An account store announces them to MulticastCenter.default, which calls its clients:",
      "ProfileScreen, Badge, AuditLog.",
      "",
      "> logout",
      "  Badge: no unread messages any more",
      "  AuditLog: the user logged out",
      "",
      "Still listening: ProfileScreen, Badge, AuditLog.",
    ]
    #expect(outcome == Program.Outcome(status: 0, output: expected, errors: []))
  }

  @Test(arguments: [
    ("", []),
    ("\n\r\n \t \n", []),
    ("login 7\nlogout", ["> login 7", "> logout"]),
    ("login 7\r\nlogout\r\n", ["> login 7", "> logout"]),
    ("login 7\r\nlogout\r", ["> login 7", "> logout"]),
    ("\nlogin 7\n\n\nlogout\n\n", ["> login 7", "> logout"]),
    ("  login \t 7  \n\tlogout\t\n", ["> login 7", "> logout"]),
    ("\u{FEFF}login 7\n", ["> login 7"]),
    ("login 0\n", ["> login 0"]),
    ("login 007\n", ["> login 7"]),
    ("login 18446744073709551615\n", ["> login 18446744073709551615"]),
  ])
  func reads(_ text: String, as events: [String]) async throws {
    let outcome = try await Program.run(["--input", "-"], input: Data(text.utf8))

    #expect(outcome.output.filter { $0.hasPrefix(">") } == events)
    #expect(outcome.errors == [])
    #expect(outcome.status == 0)
  }
}
