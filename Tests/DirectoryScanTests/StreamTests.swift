import Foundation
import Testing

/// Standard streams that are not what they usually are.
struct StreamTests {
  /// A command that starts the program in a shell, with these redirections.
  private func launcher(_ redirections: String) -> [String] {
    ["/bin/sh", "-c", #"exec "$0" "$@" \#(redirections)"#]
  }

  @Test func nothingTakesThePlaceOfClosedStreams() async throws {
    let tree = try Tree()
    let json = try Tree()

    // What would be opened first is left to chance.
    for _ in 0..<10 {
      let outcome = try await Program.run(
        ["--json", "\(json.path)/report", tree.path], launcher: launcher("<&- >&- 2>&-"))

      let report = try ScanReport(String(contentsOfFile: "\(json.path)/report", encoding: .utf8))
      #expect(!report.interrupted)
      #expect(outcome.output == "")
      #expect(outcome.errors == "")
      #expect(outcome.status == 1)
    }
  }

  @Test func aReportThatIsLostIsAnError() async throws {
    let tree = try Tree()

    let outcome = try await Program.run(["--quiet", tree.path], launcher: launcher(">&-"))

    #expect(
      outcome.errors.hasPrefix(
        "DirectoryScan: error: standard output: cannot be written (Bad file descriptor); "))
    #expect(outcome.status == 1)
  }

  @Test func aPipeThatNobodyReadsEndsNothing() async throws {
    let tree = try Tree()
    let json = try Tree()
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()

    let program = try Program(
      ["--wiring", "\(json.path)/wiring", tree.path], errors: pipe.fileHandleForWriting,
      launcher: launcher(">&2"))
    let outcome = try await program.outcome()

    #expect(FileManager.default.fileExists(atPath: "\(json.path)/wiring"))
    #expect(outcome.status == 0)
  }
}
