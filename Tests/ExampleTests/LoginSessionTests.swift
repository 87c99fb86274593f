import Foundation
import Testing

/// The example LoginSession, as its users run it.
struct LoginSessionTests {
  private let folder = Tree()

  private func run(_ arguments: [String], input: String = "") async throws -> Program.Outcome {
    try await Program("LoginSession", arguments, in: folder.path, input: input).outcome()
  }

  @Test(arguments: ["--help", "-h"]) func theHelpOptionPrintsTheUsage(_ argument: String)
    async throws
  {
    let outcome = try await run([argument])
    #expect(
      outcome.output.hasPrefix(
        "Usage: LoginSession [--tour | --trace | --timeline FILE | --input FILE]\n\nPlays a "))
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test(arguments: [
    (["--verbose"], #"unknown argument "--verbose""#),
    (["events.txt"], #"unknown argument "events.txt""#),
    (["--input", "events.txt", "--verbose"], #"unknown argument "--verbose""#),
    (["--input"], "--input needs a FILE"),
    (["--input", "events.txt", "--input", "events.txt"], "--input is given twice"),
    (["--timeline"], "--timeline needs a FILE"),
    (["--tour", "--tour"], "--tour is given twice"),
    (["--trace", "--input", "events.txt"], "--trace and --input cannot be combined"),
  ])
  func wrongArgumentsPrintTheProblemAndTheUsage(_ arguments: [String], problem: String) async throws
  {
    try folder.file("events.txt", "login 7\n")
    let usage = try await run(["--help"]).output
    let errors = "LoginSession: error: \(problem)\n\n\(usage)"
    #expect(try await run(arguments) == Program.Outcome(status: 64, errors: errors))
  }

  @Test(arguments: [("events.txt", "events.txt"), ("-", "standard input")])
  func theProgramPlaysTheEventsOfAFile(of path: String, named name: String) async throws {
    let events = "login 7\nlogout\nlogin 8\n"
    try folder.file("events.txt", events)
    let expected = """
      A login session: 3 events from \(name).
      An account store announces them to MulticastCenter.default, which calls its clients:
      ProfileScreen, Badge, AuditLog.

      main actor | AccountStore | notify: login 7
      main actor | ProfileScreen | welcome, user 7
      main actor | AuditLog | user 7 logged in
      main actor | AccountStore | notify: logout
      main actor | Badge | shows no unread messages
      main actor | AuditLog | the user logged out
      main actor | AccountStore | notify: login 8
      main actor | ProfileScreen | welcome, user 8
      main actor | AuditLog | user 8 logged in

      Still listening: ProfileScreen, Badge, AuditLog.

      """
    var outcome = try await run(["--input", path], input: path == "-" ? events : "")
    outcome.output = withColumns(outcome.output)
    #expect(outcome == Program.Outcome(output: expected))
  }

  @Test(arguments: [
    ("", []),
    ("\n\r\n \t \n", []),
    ("login 7\nlogout", ["login 7", "logout"]),
    ("login 7\r\nlogout\r\n", ["login 7", "logout"]),
    ("\nlogin 7\n\n\nlogout\n\n", ["login 7", "logout"]),
    ("  login \t 7  \n\tlogout\t\n", ["login 7", "logout"]),
    ("login 007\n", ["login 7"]),
    ("login 18446744073709551615\n", ["login 18446744073709551615"]),
  ])
  func theProgramReadsOneEventPerLine(_ text: String, as events: [String]) async throws {
    let outcome = try await run(["--input", "-"], input: text)
    let lines = outcome.output.split(separator: "\n")
    let count = events.count == 1 ? "1 event" : "\(events.count) events"
    #expect(lines.first == "A login session: \(count) from standard input.")
    #expect(lines.compactMap { $0.firstMatch(of: /notify: (.*)/)?.1 }.map(String.init) == events)
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  /// Expects that the program prints one error with its source location, and plays nothing.
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
    // Valid lines before it are not played, and the line number is the one that an editor shows.
    ("login 7\nlogout\nsignin 8", 3, unknown(#""signin""#)),
    ("login 7\r\n\r\nsignin 8\r\n", 3, unknown(#""signin""#)),
    ("login 7\nsignin\nlogin x\n", 2, unknown(#""signin""#)),
  ])
  func aMalformedLineIsReportedWithItsNumber(_ text: String, line: Int, problem: String)
    async throws
  {
    try folder.file("events.txt", text)
    let error = "events.txt:\(line): error: \(problem)"
    try await expectError(error, of: ["--input", "events.txt"])
  }

  @Test func aLineThatIsNotUTF8IsReportedWithItsNumber() async throws {
    // A letter that is cut off by the end of the line.
    try folder.file("events.txt", Data("login 7\nlogin ".utf8) + [0xC3, 0x0A])
    let error = "events.txt:2: error: not valid UTF-8; save the file as text in UTF-8"
    try await expectError(error, of: ["--input", "events.txt"])
  }

  @Test(arguments: ["missing.txt", "."]) func anUnreadableFileIsReported(_ path: String)
    async throws
  {
    let outcome = try await run(["--input", path])
    #expect(outcome.errors.hasPrefix("\(path): error: cannot be read ("))
    #expect(outcome.output == "" && outcome.status == 1)
  }

  @Test func theProgramShowsASession() async throws {
    let outcome = try await run([])
    #expect(outcome.errors == "" && outcome.status == 0)
    #expect(outcome.output.split(separator: "\n", omittingEmptySubsequences: false).count <= 40)
    // Events of one thread, and events caused by a post, have later times.
    let times = outcome.output.split(separator: "\n").filter { !$0.contains("archive queue") }
      .compactMap { $0.firstMatch(of: #/^ +([0-9.]+) ms /#).flatMap { Double($0.1) } }
    #expect(times.count == 18 && times == times.sorted())

    let lines = happenings(in: outcome.output)
    // The order between the archive's queue and the main actor is not defined.
    #expect(lines.filter { !$0.hasPrefix("archive queue") } == Self.session)
    #expect(
      lines.filter { $0.hasPrefix("archive queue") } == [
        "archive queue | Archive | 3 unread", "archive queue | Archive | 2 unread",
      ])
  }

  /// The environment variables TERM and NO_COLOR decide about colors.
  @Test(arguments: [("TERM=xterm", true), ("TERM=xterm NO_COLOR=1", false), ("TERM=dumb", false)])
  func aTerminalShowsColorsUnlessTheUserDisablesThem(environment: String, isColored: Bool)
    async throws
  {
    // The command `script` runs a program in a terminal. The environment of the tests may contain NO_COLOR.
    #if os(macOS)
      let command = #"env -u NO_COLOR \#(environment) script -q /dev/null "$0""#
    #else
      let command = #"env -u NO_COLOR \#(environment) script -qec "$0" /dev/null"#
    #endif
    let outcome = try await Program("LoginSession", [], launcher: ["/bin/sh", "-c", command])
      .outcome()
    #expect(outcome.output.contains("refuses the second login: a loop"))
    #expect(
      outcome.output.contains("\u{1B}[31mrefuses the second login: a loop\u{1B}[0m") == isColored)
    #expect(outcome.output.contains("\u{1B}") == isColored)
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test func theTourShowsItsCalls() async throws {
    let outcome = try await run(["--tour"])
    let lines = happenings(in: outcome.output)
    #expect(lines.filter { !$0.hasPrefix("archive queue") } == Self.tour)
    #expect(lines.count { $0.hasPrefix("archive queue") } == 2)
    #expect(outcome.output.contains("\n  UserProtocol: 2 clients\n    Badge, posting thread\n"))
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test func theTraceShowsCallsAndDeliveries() async throws {
    let outcome = try await run(["--trace"])
    let lines = happenings(in: outcome.output)
      .map { $0.replacing(/[0-9.]+ (ns|µs|ms|s)\b/, with: "<time>") }
    let last = try #require(lines.firstIndex { $0.hasSuffix("notify: logout") })
    // On a busy machine, any call may be slow enough to be reported.
    let expected = lines.enumerated().filter { index, line in
      index < last || !line.contains(" called ") || line.contains(" called Backup,")
    }.map(\.element)
    #expect(expected.filter { !$0.contains("archive") } == Self.trace)
    #expect(
      expected.filter { $0.contains("archive") } == [
        "archive queue | Archive | 3 unread",
        "    post UnreadProtocol #2 called Archive, <time>, queue archive, waited <time>",
        "archive queue | Archive | 2 unread",
        "    post UnreadProtocol #3 called Archive, <time>, queue archive, waited <time>",
      ])
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test func theTimelineHasATrackForEachHome() async throws {
    let outcome = try await run(["--timeline", "timeline.json"])
    #expect(outcome.output.contains("Wrote timeline.json. Open it at ui.perfetto.dev"))
    #expect(outcome.errors == "" && outcome.status == 0)
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/timeline.json"))
    let file = try JSONSerialization.jsonObject(with: data) as? [String: [[String: Any]]]
    let tracks = try #require(file?["traceEvents"])
      .filter { $0["name"] as? String == "thread_name" }
      .compactMap { ($0["args"] as? [String: Any])?["name"] as? String }
    #expect(tracks.sorted() == ["MainActor", "queue archive", "thread"])
  }

  @Test func aTimelineThatCannotBeWrittenIsReported() async throws {
    let outcome = try await run(["--timeline", "no/folder"])
    #expect(outcome.errors.hasPrefix("no/folder: error: cannot be written ("))
    #expect(outcome.status == 1)
  }

  /// Removes the times, and separates the columns: "  0.12 ms  main actor     AuditLog  …".
  private func withColumns(_ output: String) -> String {
    output.replacing(#/(?m)^ +[0-9.]+ ms  (\w+ ?\w+) +(\w+) +/#) { match in
      "\(match.1) | \(match.2) | "
    }
  }

  /// The lines that show what happens. Of a trace, only the calls.
  ///
  /// Replaces the line and column of each call site by a number, so that the expected text still shows which
  /// sites are the same, and does not change with every edit of the source.
  private func happenings(in output: String) -> [String] {
    var sites: [Substring] = []
    return withColumns(output).split(separator: "\n")
      .filter {
        $0.firstMatch(of: #/ \| |^    (notify|post) .* called |^ +LoginSession/\w+.swift:/#) != nil
      }
      .map { line in
        line.replacing(#/ *(LoginSession/\w+\.swift):[0-9]+:[0-9]+/#) { match in
          if !sites.contains(match.0) { sites.append(match.0) }
          return "\(match.1):<site \(sites.firstIndex(of: match.0)! + 1)>"
        }
      }
      .map(String.init)
  }

  private static let session = """
    main actor | AccountStore | notify: login 19000
    main actor | ProfileScreen | welcome, user 19000
    main actor | AuditLog | user 19000 logged in
    main actor | App | releases the profile screen
    main actor | AccountStore | notify: login 19001
    main actor | AuditLog | user 19001 logged in
    main actor | AccountStore | notify: login 19002
    main actor | MaintenanceMode | logs user 19002 out
    main actor | AccountStore | notify: logout
    main actor | AutoLogin | logs user 19002 in again
    main actor | AccountStore | notify: login 19002
    main actor | MulticastCenter | refuses the second login: a loop
    LoginSession/AccountStore.swift:<site 1>
    LoginSession/AccountStore.swift:<site 2>
    LoginSession/AccountStore.swift:<site 1>
    background | MailService | post: 3 unread
    background | MailLog | 3 unread
    main actor | SpamFilter | post: 2 unread, without spam
    main actor | UnreadLabel | 3 unread
    main actor | MailLog | 2 unread
    main actor | UnreadLabel | 2 unread
    """.components(separatedBy: "\n")

  private static let tour = """
    main actor | AccountStore | notify: login 19000
    main actor | ProfileScreen | welcome, user 19000
    main actor | AuditLog | user 19000 logged in
    main actor | AccountStore | notify: logout
    main actor | Badge | shows no unread messages
    main actor | AuditLog | the user logged out
    main actor | AccountStore | notify: login 19001
    main actor | ProfileScreen | welcome, user 19001
    main actor | AuditLog | user 19001 logged in
    main actor | AccountStore | notify: logout
    main actor | Badge | shows no unread messages
    main actor | AuditLog | the user logged out
    main actor | App | releases the profile screen
    main actor | AccountStore | notify: login 19002
    main actor | AuditLog | user 19002 logged in
    main actor | AccountStore | notify: logout
    main actor | Badge | shows no unread messages
    main actor | AuditLog | the user logged out
    main actor | AccountStore | notify: login 19003
    main actor | MaintenanceMode | logs user 19003 out
    main actor | AccountStore | notify: logout
    main actor | AutoLogin | logs user 19003 in again
    main actor | AccountStore | notify: login 19003
    LoginSession/AccountStore.swift:<site 1>
    LoginSession/AccountStore.swift:<site 2>
    LoginSession/AccountStore.swift:<site 1>  <- refused
    main actor | Tour | post: Welcome
    main actor | Inbox | "Welcome", 1 unread
    background | Tour | post: News
    main actor | Inbox | "News", 2 unread
    main actor | Tour | the inbox is deallocated: 0 handlers
    background | MailService | post: 3 unread
    background | MailLog | 3 unread
    main actor | SpamFilter | post: 2 unread, without spam
    main actor | UnreadLabel | 3 unread
    main actor | MailLog | 2 unread
    main actor | UnreadLabel | 2 unread
    """.components(separatedBy: "\n")

  private static let trace = """
    main actor | AccountStore | notify: login 19000
    main actor | ProfileScreen | welcome, user 19000
        notify UserProtocol #1 called ProfileScreen, <time>
        notify UserProtocol #1 called Badge, <time>
    main actor | AuditLog | user 19000 logged in
        notify UserProtocol #1 called AuditLog, <time>
    background | MailService | post: 3 unread
    background | MailLog | 3 unread
        post UnreadProtocol #2 called MailLog, <time>
    main actor | SpamFilter | post: 2 unread, without spam
        post UnreadProtocol #2 called SpamFilter, <time>, MainActor, waited <time>
    main actor | UnreadLabel | 3 unread
        post UnreadProtocol #2 called UnreadLabel, <time>, MainActor, waited <time>
    main actor | MailLog | 2 unread
        post UnreadProtocol #3 called MailLog, <time>, waited <time>
        post UnreadProtocol #3 called SpamFilter, <time>, MainActor, waited <time>
    main actor | UnreadLabel | 2 unread
        post UnreadProtocol #3 called UnreadLabel, <time>, MainActor, waited <time>
    main actor | AccountStore | notify: logout
    main actor | Badge | shows no unread messages
    main actor | AuditLog | the user logged out
    main actor | Backup | has saved everything
        notify UserProtocol #1 called Backup, <time>
    """.components(separatedBy: "\n")
}
