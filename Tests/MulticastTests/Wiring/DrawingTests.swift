import Dispatch
import Foundation
import Multicast
import TestSupport
import Testing

private protocol UserProtocol {}
private protocol NobodyProtocol {}

private final class ProfileScreen: UserProtocol {}
private final class Badge: UserProtocol {}
private final class AuditLog: UserProtocol, Sendable {}
private final class `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`: UserProtocol, Sendable {}

private struct Mail: Sendable {}

/// Text and flowchart, as they are expected in files: `Expected/<name>.txt` and `.mmd`.
@Suite struct DrawingTests {
  private let center = MulticastCenter()

  private func expectDrawings(
    named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let wiring = center.wiring
    // Only a debug build knows the places of observers.
    let text = "\(wiring)\n".replacing(/, MulticastTests\/DrawingTests.swift:[0-9:]+/, with: "")
    let drawings = ["txt": text, "mmd": wiring.mermaid]
    for (type, drawing) in drawings {
      let file = try #require(
        Bundle.module.url(forResource: name, withExtension: type, subdirectory: "Expected"))
      let expected = try String(contentsOf: file, encoding: .utf8)
      #expect(drawing == expected, sourceLocation: sourceLocation)
    }
  }

  @Test func anEmptyCenter() throws {
    try expectDrawings(named: "empty")
  }

  @Test func aCenterThatIsInUse() async throws {
    let clients: [any UserProtocol] = [ProfileScreen(), Badge(), Badge(), AuditLog()]
    let screen = await MainActor.run { Screen() }
    let log = AuditLog()
    let logs = (0..<2).map { _ in AuditLog() }
    defer { extendLifetime((clients, screen, log, logs)) }
    for client in clients { center.add(client, for: UserProtocol.self) }
    _ = center[(any NobodyProtocol).self]
    center.observe(Topic<Mail>("mail"), owner: log, id: "all") { _, _ in }
    await MainActor.run {
      _ = center.observe(Topic<Mail>("mail"), owner: screen) { screen, _ in screen.shown.append(1) }
    }
    for log in logs {
      center.observe(Topic<Mail>("mail"), owner: log, on: DispatchQueue(label: "disk")) { _, _ in }
    }
    center.observe(Topic<Mail>(), owner: log) { _, _ in await Task.yield() }
    try expectDrawings(named: "session")
  }

  @Test func oddNames() throws {
    let odd = kept(`a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`())
    center.add(odd, for: UserProtocol.self)
    let names = [
      "quotes \" ' ` and \\ backslashes \\n",
      "lines\r\n\u{2028}\t\u{7} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0",
      "\"\u{301} combined",
      "<script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\\LaTeX$",
      "%%{init: {}}%%", "1. list", "",
    ]
    for name in names {
      center.observe(Topic<Mail>(name), owner: odd, id: name, on: DispatchQueue(label: name)) {
        _, _ in
      }
    }
    try expectDrawings(named: "odd")
  }
}
