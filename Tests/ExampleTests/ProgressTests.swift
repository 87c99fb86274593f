import Foundation
import Testing

/// What is shown while a scan runs, and how it ends early.
struct ProgressTests {
  private let tree = Tree()

  @Test func drawsABarInATerminal() async throws {
    try tree.endlessFiles()
    let terminal = try Terminal(columns: 60)
    let program = try Program([tree.path], errors: terminal.device)
    await program.interrupt { terminal.text().contains("compared") }
    let outcome = try await program.outcome { terminal.text() }
    let text = terminal.text()
    let frames = text.split(separator: "\r")
    #expect(frames.allSatisfy { $0.count <= 59 && !$0.contains("\n") })
    #expect(
      frames.first?.hasPrefix("[------------] 0 files/s, 0 files, 0 B, 0 of 1 folder") == true)
    let comparing = /\[#*-+\] [0-9.]+ .?B\/s, compared .* of 2\.2 TB */
    #expect(frames.contains { $0.wholeMatch(of: comparing) != nil })
    // In the end nothing is left of it, and the cursor stands where it stood.
    var line = [Character](repeating: " ", count: 60 + text.count)
    for frame in frames { line.replaceSubrange(..<frame.count, with: frame) }
    #expect(line.allSatisfy { $0 == " " } && text.hasSuffix("\r"))
    #expect(outcome.status == 130)
  }

  @Test func writesLinesElsewhereAndReportsWhatWasFoundWhenInterrupted() async throws {
    try tree.endlessFiles()
    let json = Tree()
    let program = try Program(["--json", "\(json.path)/report", tree.path])
    await program.interrupt(when: "compared")
    let outcome = try await program.outcome()
    #expect(outcome.errors.hasSuffix("\n") && !outcome.errors.contains("\r"))
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.contains { $0.wholeMatch(of: /[0-9.]+ .?B\/s, compared .* of 2\.2 TB/) != nil })
    let last = /[0-9]+ files\/s, 2 files, 2\.2 TB, done in [0-9]+\.[0-9] s/
    #expect(lines.last?.wholeMatch(of: last) != nil)
    #expect(outcome.status == 130)
    #expect(outcome.output.hasPrefix("Interrupted: this is what was found so far.\n"))
    let report = try ScanReport(json.text("report"))
    #expect(report.interrupted)
    #expect(report.totals.files == 2)
    #expect(report.duplicates == [])
  }

  @Test func endsALineForAShortScan() async throws {
    try tree.file("one", "12")
    let outcome = try await Program.run(tree.path)
    // Where the machine is slow, it may be the second line.
    let last = try #require(outcome.errors.split(separator: "\n").last)
    #expect(last.wholeMatch(of: /[0-9]+ files\/s, 1 file, 2 B, done in [0-9.]+ s/) != nil)
    #expect(outcome.status == 0)
  }

  @Test func saysNothingWhenQuiet() async throws {
    let terminal = try Terminal(columns: 60)
    let outcome = try await Program(["--quiet", tree.path], errors: terminal.device).outcome()
    #expect(terminal.text() == "")
    #expect(outcome.status == 0)
  }
}
