import Foundation
import Testing

/// The example LoginSession, as its users run it.
struct LoginSessionTests {
  private let folder = Tree()

  private func run(_ arguments: [String], input: String = "") async throws -> Program.Outcome {
    try await Program(arguments, of: "LoginSession", in: folder.path, input: input).outcome()
  }

  // MARK: The command line

  @Test(arguments: ["--help", "-h"]) func help(_ argument: String) async throws {
    let outcome = try await run([argument])
    #expect(outcome.output.hasPrefix("Usage: LoginSession [--input FILE | --trace]\n\nPlays a "))
    #expect(outcome.output.hasSuffix(" Nothing is played\nif any line is malformed.\n"))
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
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
    try folder.file("events.txt", "login 7\n")
    let usage = try await run(["--help"]).output
    let errors = "LoginSession: error: \(problem)\n\n\(usage)"
    #expect(try await run(arguments) == Program.Outcome(status: 64, errors: errors))
  }

  // MARK: Events that are played

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
    ("login 7\r\nlogout\r", ["> login 7", "> logout"]),
    ("\nlogin 7\n\n\nlogout\n\n", ["> login 7", "> logout"]),
    ("  login \t 7  \n\tlogout\t\n", ["> login 7", "> logout"]),
    ("\u{FEFF}login 7\n", ["> login 7"]),
    ("login 0\n", ["> login 0"]),
    ("login 007\n", ["> login 7"]),
    ("login 18446744073709551615\n", ["> login 18446744073709551615"]),
  ])
  func reads(_ text: String, as events: [String]) async throws {
    let outcome = try await run(["--input", "-"], input: text)
    let lines = outcome.output.split(separator: "\n")
    let count = events.count == 1 ? "1 event" : "\(events.count) events"
    #expect(lines.first == "A login session: \(count) from standard input.")
    #expect(lines.filter { $0.hasPrefix(">") }.map(String.init) == events)
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
  }

  // MARK: Events that cannot be read

  /// One error, which says where, and nothing played.
  private func expectError(_ error: String, of arguments: [String], input: String = "") async throws
  {
    let outcome = try await run(arguments, input: input)
    #expect(outcome == Program.Outcome(status: 1, errors: "\(error)\n"))
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
    try folder.file("events.txt", text)
    let error = "events.txt:\(line): error: \(problem)"
    try await expectError(error, of: ["--input", "events.txt"])
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
    try folder.file("events.txt", Data(bytes))
    let error = "events.txt:\(line): error: not valid UTF-8; save the file as text in UTF-8"
    try await expectError(error, of: ["--input", "events.txt"])
  }

  @Test func standardInputIsNamed() async throws {
    let error = "standard input:2: error: " + Self.unknown(#""signin""#)
    try await expectError(error, of: ["--input", "-"], input: "login 7\nsignin\n")
  }

  @Test(arguments: [("missing.txt", "No such file or directory"), (".", "Is a directory")])
  func unreadableFile(_ path: String, reason: String) async throws {
    let advice = "check that it exists, that it is a file and that you may read it"
    let error = "\(path): error: cannot be read (\(reason)); \(advice)"
    try await expectError(error, of: ["--input", path])
  }

  // MARK: Without events

  @Test func playsTheTour() async throws {
    let outcome = try await run([])
    #expect(happenings(in: outcome.output) == Self.tour)
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
  }

  @Test func playsTheTrace() async throws {
    let outcome = try await run(["--trace"])
    let happenings = happenings(in: outcome.output)
      .map { $0.replacing(/[0-9.]+ (ns|µs|ms|s)\b/, with: "<time>") }
    let last = try #require(happenings.firstIndex { $0.hasPrefix("3.") })
    // The thread that posts may tell of the end of its pass at any time after it has left the letter. And on a
    // busy machine, anybody may be slow.
    let expected = happenings.enumerated().filter { index, line in
      !line.contains("ended, clients: 0")
        && (index < last || !line.contains(" called ") || line.contains(" called Backup,"))
    }
    #expect(happenings.count { $0.contains("ended, clients: 0") } == 2)
    #expect(expected.map(\.element) == Self.trace)
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
  }

  /// The lines that tell what happens, and the first of each explanation.
  ///
  /// Each call site's line and column become the number of the site, so that the expected text still says which
  /// sites are the same, and does not change with every edit of the source.
  private func happenings(in output: String) -> [String] {
    var sites: [Substring] = []
    return output.split(separator: "\n")
      .filter { $0.prefixMatch(of: /\d\. |>|[ │]*[├└]|  (  )?[^ ]/) != nil }
      .map { line in
        line.replacing(/(LoginSession\/\w+\.swift):[0-9]+:[0-9]+/) { match in
          if !sites.contains(match.0) { sites.append(match.0) }
          return "\(match.1):<site \(sites.firstIndex(of: match.0)! + 1)>"
        }
      }
      .map(String.init)
  }

  private static let tour = """
    1. A profile screen, a badge and an audit log are clients of MulticastCenter.default. Each
    > login 19000
      ProfileScreen: welcome, user 19000
      AuditLog: user 19000 logged in
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
    2. The audit log is added again. The center's add method returns false, because the log is a
    > login 19001
      ProfileScreen: welcome, user 19001
      AuditLog: user 19001 logged in
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
    3. The profile screen is closed and deallocated. The center holds clients weakly, so the screen
    > login 19002
      AuditLog: user 19002 logged in
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
    4. A client may notify while it is called. Maintenance mode answers a login with a logout, and
    > login 19003
      MaintenanceMode: logs user 19003 out again
      AutoLogin: logs user 19003 in again
      LoginSession/AccountStore.swift:<site 1>
      LoginSession/AccountStore.swift:<site 2>
      LoginSession/AccountStore.swift:<site 1>  <- refused
    5. A closure can observe a topic. The inbox's closure is written on the main actor and runs
    > mail, posted on the main actor
      Inbox: "Welcome", 1 unread
    > mail, posted in the background
      Inbox: "News", 2 unread
    > mail, posted after the inbox was closed
      0 handlers called
    6. A background service posts, and its clients live on the main actor. A post calls each client
    > mail, found in the background
      SpamFilter: takes the spam out
      UnreadLabel: 3 unread
      UnreadLabel: 2 unread
    7. A center's wiring shows who listens to what. The inbox is open again.
    ├─ UserProtocol         2 clients
    │  ├─ Badge
    │  └─ AuditLog
    └─ Topic<Mail>("mail")  1 observer
       └─ Inbox             MainActor
    """.components(separatedBy: "\n")

  private static let trace = """
      MulticastCenter(onDelivery: DeliveryLog.events { print("    \\($0)") })
    1. An account store notifies. Every client is called at once, in order. The delivery ends when the
    > login 19000
        notify UserProtocol #1 began, at LoginSession/AccountStore.swift:<site 1>
      ProfileScreen: welcome, user 19000
        notify UserProtocol #1 called ProfileScreen, <time>
        notify UserProtocol #1 called Badge, <time>
      AuditLog: user 19000 logged in
        notify UserProtocol #1 called AuditLog, <time>
        notify UserProtocol #1 ended, clients: 3, <time>
    2. A mail service posts in the background. The filter and the label live on the main actor, so the
    > mail, found in the background
        post UnreadProtocol #2 began, at LoginSession/MailService.swift:<site 2>
        post UnreadProtocol #2 left for MainActor, clients: 2
        post UnreadProtocol #2 began, at LoginSession/MailService.swift:<site 2>, MainActor, waited <time>
      SpamFilter: takes the spam out
        post UnreadProtocol #2 called SpamFilter, <time>, MainActor, waited <time>
      UnreadLabel: 3 unread
        post UnreadProtocol #2 called UnreadLabel, <time>, MainActor, waited <time>
        post UnreadProtocol #2 ended, clients: 2, <time>, MainActor
        post UnreadProtocol #3 began, at LoginSession/SpamFilter.swift:<site 3>, waited <time>
        post UnreadProtocol #3 left for MainActor, clients: 2
        post UnreadProtocol #3 began, at LoginSession/SpamFilter.swift:<site 3>, MainActor, waited <time>
        post UnreadProtocol #3 called SpamFilter, <time>, MainActor, waited <time>
      UnreadLabel: 2 unread
        post UnreadProtocol #3 called UnreadLabel, <time>, MainActor, waited <time>
        post UnreadProtocol #3 ended, clients: 2, <time>, MainActor
    3. Logging out takes long. This line of code prints slow clients only:
    > logout
      Badge: no unread messages any more
      AuditLog: the user logged out
      Backup: everything is saved
        notify UserProtocol #1 called Backup, <time>
    """.components(separatedBy: "\n")
}
