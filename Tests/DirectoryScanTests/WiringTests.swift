import Testing

/// The picture of who listens to what.
struct WiringTests {
  @Test func showsEveryListener() async throws {
    let tree = try Tree()

    let outcome = try await Program.run(["--wiring", "-", tree.path])

    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first == "flowchart LR")
    // Those who count in the background, those who write, and those who draw.
    let listeners = [
      "Totals", "ExtensionTotals", "LargestFiles", "ProblemList", "DuplicateFinder",
      "ProgressMeter", "WiringFile", "ProgressLines",
    ]
    for listener in listeners {
      #expect(lines.contains { $0.contains(#"["\#(listener)"]"#) }, "\(listener)")
    }
    #expect(!outcome.output.contains("ProgressBar"))
    #expect(!outcome.output.contains("TextReport"))
    #expect(outcome.status == 0)
  }

  @Test func isWrittenBesideTheReport() async throws {
    let tree = try Tree()

    let outcome = try await Program.run(
      ["--quiet", "--wiring", "\(tree.path)/no/file", tree.path])

    #expect(outcome.output.contains("0 files in 1 folder, 0 B; 0 links, 0 special files\n"))
    #expect(
      outcome.errors.hasPrefix("DirectoryScan: error: \(tree.path)/no/file: cannot be written"))
    #expect(outcome.status == 1)
  }
}
