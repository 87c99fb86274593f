import Foundation
import Testing

/// What is shown while a scan runs, and how it ends early.
struct ProgressTests {
  /// Files whose comparing takes longer than any test waits, and which take no room.
  private func endlessTree() throws -> Tree {
    let tree = try Tree()
    try tree.file("one.txt", bytes: 1 << 40)
    try tree.file("two.txt", bytes: 1 << 40)
    return tree
  }

  @Test func drawsABarInATerminal() async throws {
    let tree = try endlessTree()
    let terminal = try Terminal(columns: 60)

    let program = try Program([tree.path], errors: terminal.device)
    try await program.wait { terminal.text().contains("compared") }
    program.interrupt()
    let outcome = try await program.outcome()

    let text = terminal.text()
    let frames = text.split(separator: "\r", omittingEmptySubsequences: true)
    #expect(!text.contains("\n"))
    #expect(text.hasPrefix("\r"))
    #expect(frames.allSatisfy { $0.count <= 59 })
    #expect(
      frames.contains { $0.hasPrefix("[------------] 0 files/s, 0 files, 0 B, 0 of 1 folder") })
    #expect(
      frames.contains {
        $0.prefixMatch(of: /\[#*-+\] [0-9.]+ .?B\/s, compared .* of 2\.2 TB/) != nil
      })
    // In the end nothing is left of it, and the cursor stands where it stood.
    let last = try #require(frames.last)
    #expect(last.allSatisfy { $0 == " " } && text.hasSuffix("\r"))
    // The frame before it may end in spaces, in place of what was left of a longer one.
    let drawn = frames.dropLast().last?.reversed().drop { $0 == " " }
    #expect(last.count >= drawn?.count ?? 0)
    #expect(outcome.status == 130)
  }

  @Test func writesLinesElsewhere() async throws {
    let tree = try endlessTree()

    let program = try Program([tree.path])
    try await program.wait { try program.errorsSoFar().contains("\n") }
    program.interrupt()
    let outcome = try await program.outcome()

    let lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(!outcome.errors.contains("\r"))
    #expect(lines.count >= 3)
    #expect(lines.dropLast(2).allSatisfy { $0.contains("B/s, compared ") })
    #expect(
      lines.dropLast().last?.contains(/files\/s, 2 files, 2\.2 TB, done in [0-9]+\.[0-9] s/) == true
    )
    #expect(lines.last == "")
  }

  @Test func endsALineForAShortScan() async throws {
    let tree = try Tree()
    try tree.file("one", "12")

    let outcome = try await Program.run([tree.path])

    #expect(
      outcome.errors.wholeMatch(of: /[0-9]+ files\/s, 1 file, 2 B, done in [0-9.]+ s\n/) != nil)
    #expect(outcome.status == 0)
  }

  @Test func saysNothingWhenQuiet() async throws {
    let tree = try Tree()
    let terminal = try Terminal(columns: 60)

    let outcome = try await Program(["--quiet", tree.path], errors: terminal.device).outcome()

    #expect(terminal.text() == "")
    #expect(outcome.status == 0)
  }

  @Test func reportsWhatWasFoundWhenInterrupted() async throws {
    let tree = try endlessTree()
    let json = try Tree()

    let program = try Program(["--json", "\(json.path)/report", tree.path])
    try await program.wait { try program.errorsSoFar().contains("compared") }
    program.interrupt()
    let outcome = try await program.outcome()

    #expect(outcome.status == 130)
    #expect(outcome.output.hasPrefix("Interrupted: this is what was found so far.\n"))
    let report = try ScanReport(
      String(contentsOfFile: "\(json.path)/report", encoding: .utf8))
    #expect(report.interrupted)
    #expect(report.totals.files == 2)
    #expect(report.duplicates == [])
  }
}
