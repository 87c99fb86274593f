import Foundation
import Testing

/// The example LoginSession, as its users run it.
struct LoginSessionTests {
  private let folder = Tree()

  private func run(_ arguments: [String], input: String = "") async throws -> Program.Outcome {
    try await Program("LoginSession", arguments, in: folder.path, input: input).outcome()
  }

  @Test(arguments: ["--help", "-h"]) func help(_ argument: String) async throws {
    let outcome = try await run([argument])
    #expect(outcome.output.hasPrefix("Usage: LoginSession [--input FILE | --trace]\n\nPlays a "))
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test(arguments: [
    (["--verbose"], #"unknown argument "--verbose""#),
    (["events.txt"], #"unknown argument "events.txt""#),
    (["--input", "events.txt", "--verbose"], #"unknown argument "--verbose""#),
    (["--input"], "--input needs a FILE"),
    (["--input", "events.txt", "--input", "events.txt"], "--input stands twice"),
    (["--trace", "--input", "events.txt"], "--input and --trace cannot stand together"),
  ])
  func misuse(_ arguments: [String], problem: String) async throws {
    try folder.file("events.txt", "login 7\n")
    let usage = try await run(["--help"]).output
    let errors = "LoginSession: error: \(problem)\n\n\(usage)"
    #expect(try await run(arguments) == Program.Outcome(status: 64, errors: errors))
  }

  @Test(arguments: [("events.txt", "events.txt"), ("-", "standard input")])
  func playsEvents(of path: String, named name: String) async throws {
    let events = "login 7\nlogout\nlogin 8\n"
    try folder.file("events.txt", events)
    let expected = """
      A login session: 3 events from \(name).
      An account store announces them to MulticastCenter.default, which calls its clients:
      ProfileScreen, Badge, AuditLog.

      > login 7
        ProfileScreen: welcome, user 7
        AuditLog: user 7 logged in
      > logout
        Badge: no unread messages any more
        AuditLog: the user logged out
      > login 8
        ProfileScreen: welcome, user 8
        AuditLog: user 8 logged in

      Still listening: ProfileScreen, Badge, AuditLog.

      """
    let outcome = try await run(["--input", path], input: path == "-" ? events : "")
    #expect(outcome == Program.Outcome(output: expected))
  }

  @Test(arguments: [
    ("", []),
    ("\n\r\n \t \n", []),
    ("login 7\nlogout", ["> login 7", "> logout"]),
    ("login 7\r\nlogout\r\n", ["> login 7", "> logout"]),
    ("\nlogin 7\n\n\nlogout\n\n", ["> login 7", "> logout"]),
    ("  login \t 7  \n\tlogout\t\n", ["> login 7", "> logout"]),
    ("login 007\n", ["> login 7"]),
    ("login 18446744073709551615\n", ["> login 18446744073709551615"]),
  ])
  func reads(_ text: String, as events: [String]) async throws {
    let outcome = try await run(["--input", "-"], input: text)
    let lines = outcome.output.split(separator: "\n")
    let count = events.count == 1 ? "1 event" : "\(events.count) events"
    #expect(lines.first == "A login session: \(count) from standard input.")
    #expect(lines.filter { $0.hasPrefix(">") }.map(String.init) == events)
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  /// One error, which says where, and nothing played.
  private func expectError(_ error: String, of arguments: [String]) async throws {
    #expect(try await run(arguments) == Program.Outcome(status: 1, errors: "\(error)\n"))
  }

  private static let needsUserID = "login without a user id; write login <id>, as in login 19000"

  private static func unknown(_ word: String) -> String {
    "unknown event \(word); write login <id> or logout"
  }

  private static func notAUserID(_ word: String) -> String {
    "\(word) is not a user id; write a whole number from 0 to 18446744073709551615"
  }

  @Test(arguments: [
    ("signin 7\n", 1, unknown(#""signin""#)),
    ("login\u{7} 7\n", 1, unknown(#""login\u{07}""#)),
    ("login\n", 1, needsUserID),
    ("login seven\n", 1, notAUserID(#""seven""#)),
    ("login +1\n", 1, notAUserID(#""+1""#)),
    ("login \u{FF11}\n", 1, notAUserID("\"\u{FF11}\"")),
    ("login 18446744073709551616\n", 1, notAUserID(#""18446744073709551616""#)),
    ("login 7 8\n", 1, "login with more than one user id; write a line for each login"),
    ("logout 7\n", 1, #"logout followed by "7"; write logout and nothing else"#),
    // Whatever comes before it, nothing is played, and the line is the one that an editor shows.
    ("login 7\nlogout\nsignin 8", 3, unknown(#""signin""#)),
    ("login 7\r\n\r\nsignin 8\r\n", 3, unknown(#""signin""#)),
    ("login 7\nsignin\nlogin x\n", 2, unknown(#""signin""#)),
  ])
  func malformedLine(_ text: String, line: Int, problem: String) async throws {
    try folder.file("events.txt", text)
    let error = "events.txt:\(line): error: \(problem)"
    try await expectError(error, of: ["--input", "events.txt"])
  }

  @Test func invalidUTF8() async throws {
    // A letter that is cut off by the end of the line.
    try folder.file("events.txt", Data("login 7\nlogin ".utf8) + [0xC3, 0x0A])
    let error = "events.txt:2: error: not valid UTF-8; save the file as text in UTF-8"
    try await expectError(error, of: ["--input", "events.txt"])
  }

  @Test(arguments: ["missing.txt", "."]) func unreadableFile(_ path: String) async throws {
    let outcome = try await run(["--input", path])
    #expect(outcome.errors.hasPrefix("\(path): error: cannot be read ("))
    #expect(outcome.output == "" && outcome.status == 1)
  }

  @Test func playsTheTour() async throws {
    let outcome = try await run([])
    #expect(happenings(in: outcome.output) == Self.tour)
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test func playsTheTrace() async throws {
    let outcome = try await run(["--trace"])
    let happenings = happenings(in: outcome.output)
      .map { $0.replacing(/[0-9.]+ (ns|µs|ms|s)\b/, with: "<time>") }
    let last = try #require(happenings.firstIndex(of: "> logout"))
    // On a busy machine, anybody may be slow.
    let expected = happenings.enumerated().filter { index, line in
      index < last || !line.contains(" called ") || line.contains(" called Backup,")
    }
    #expect(expected.map(\.element) == Self.trace)
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  /// The lines that tell what happens, of a trace only the calls.
  ///
  /// Each call site's line and column become the number of the site, so that the expected text still says which
  /// sites are the same, and does not change with every edit of the source.
  private func happenings(in output: String) -> [String] {
    var sites: [Substring] = []
    return output.split(separator: "\n")
      .filter { $0.prefixMatch(of: />|  (  )?[^ ]/) != nil }
      .filter { $0.firstMatch(of: /\b(began|left for|ended)\b|onDelivery/) == nil }
      // Only a debug build knows the places of observers.
      .map { $0.replacing(/, LoginSession\/Mail.swift:[0-9:]+/, with: "") }
      .map { line in
        line.replacing(/(LoginSession\/\w+\.swift):[0-9]+:[0-9]+/) { match in
          if !sites.contains(match.0) { sites.append(match.0) }
          return "\(match.1):<site \(sites.firstIndex(of: match.0)! + 1)>"
        }
      }
      .map(String.init)
  }

  private static let tour = """
    > login 19000
      ProfileScreen: welcome, user 19000
      AuditLog: user 19000 logged in
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
    > login 19001
      ProfileScreen: welcome, user 19001
      AuditLog: user 19001 logged in
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
    > login 19002
      AuditLog: user 19002 logged in
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
    > login 19003
      MaintenanceMode: logs user 19003 out again
      AutoLogin: logs user 19003 in again
      LoginSession/AccountStore.swift:<site 1>
      LoginSession/AccountStore.swift:<site 2>
      LoginSession/AccountStore.swift:<site 1>  <- refused
    > mail, posted on the main actor
      Inbox: "Welcome", 1 unread
    > mail, posted in the background
      Inbox: "News", 2 unread
    > mail, posted after the inbox was closed
      0 handlers called
    > mail, found in the background
      SpamFilter: takes the spam out
      UnreadLabel: 3 unread
      UnreadLabel: 2 unread
      UserProtocol: 2 clients
        Badge, posting thread
        AuditLog, posting thread
      Topic<Mail>("mail"): 1 observer
        Inbox, MainActor
    """.components(separatedBy: "\n")

  private static let trace = """
    > login 19000
      ProfileScreen: welcome, user 19000
        notify UserProtocol #1 called ProfileScreen, <time>
        notify UserProtocol #1 called Badge, <time>
      AuditLog: user 19000 logged in
        notify UserProtocol #1 called AuditLog, <time>
    > mail, found in the background
      SpamFilter: takes the spam out
        post UnreadProtocol #2 called SpamFilter, <time>, MainActor, waited <time>
      UnreadLabel: 3 unread
        post UnreadProtocol #2 called UnreadLabel, <time>, MainActor, waited <time>
        post UnreadProtocol #3 called SpamFilter, <time>, MainActor, waited <time>
      UnreadLabel: 2 unread
        post UnreadProtocol #3 called UnreadLabel, <time>, MainActor, waited <time>
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
      Backup: everything is saved
        notify UserProtocol #1 called Backup, <time>
    """.components(separatedBy: "\n")
}
