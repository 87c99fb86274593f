import Foundation
import Testing

/// The command line, and where the output goes.
struct CommandLineTests {
  private let tree = Tree()
  private let other = Tree()

  @Test(arguments: [["--help"], ["-h"], ["--quiet", ".", "--help"]])
  func help(_ arguments: [String]) async throws {
    let outcome = try await Program(arguments).outcome()
    #expect(outcome.output.hasPrefix("Usage: DirectoryScan [--json FILE] [--wiring FILE] "))
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
  }

  @Test(arguments: [
    ([], "PATH is missing"),
    ([""], "PATH is empty"),
    (["--quiet"], "PATH is missing"),
    (["."] + ["a\nb"], #"one PATH only, not "a\nb" as well"#),
    (["--verbose", "."], #"unknown option "--verbose""#),
    (["-", "."], #"unknown option "-""#),
    (["--json=x", "."], #"unknown option "--json=x""#),
    (["--json"], "--json needs a FILE"),
    (["--json", "", "."], "--json needs a FILE"),
    (["--json", "-", "--json", "-", "."], "--json stands twice"),
    (["--wiring"], "--wiring needs a FILE"),
    (["--wiring", "a", "--wiring", "b", "."], "--wiring stands twice"),
    (
      ["--wiring", "-", "--json", "-", "."],
      "--json and --wiring cannot both go to standard output"
    ),
    (["--slow"], "--slow needs a TIME, as in 1ms, 500us or 2s"),
    (["--slow", "1", "."], "--slow needs a TIME, as in 1ms, 500us or 2s"),
    (["--slow", "-1ms", "."], "--slow needs a TIME, as in 1ms, 500us or 2s"),
    (["--slow", "1ms", "--slow", "1ms", "."], "--slow stands twice"),
    (["--"], "PATH is missing"),
    (["--", "--quiet", "."], #"one PATH only, not "." as well"#),
  ])
  func misuse(_ arguments: [String], problem: String) async throws {
    let usage = try await Program.run("--help").output
    let outcome = try await Program(arguments).outcome()
    let errors = "DirectoryScan: error: \(problem)\n\n\(usage)"
    #expect(outcome == Program.Outcome(status: 64, errors: errors))
  }

  @Test(arguments: [
    ("missing", "cannot be scanned (No such file or directory); check the path"),
    ("file", "not a folder; give the path of a folder"),
    ("--no option", "cannot be scanned (No such file or directory); check the path"),
  ])
  func pathThatIsNoFolder(_ name: String, problem: String) async throws {
    try tree.file("file")
    let path = name.hasPrefix("-") ? name : "\(tree.path)/\(name)"
    let outcome = try await Program.run("--", path)
    let errors = "DirectoryScan: error: \(path): \(problem)\n"
    #expect(outcome == Program.Outcome(status: 1, errors: errors))
  }

  @Test func slowCallsAreShown() async throws {
    try tree.file("file")
    let all = try await Program.run("--quiet", "--slow", "0us", tree.path)
    #expect(all.errors.contains("notify ScanListener #"))
    #expect(all.errors.contains(" called LargestFiles, "))
    #expect(!all.errors.contains("began"))
    #expect(all.status == 0)
    let none = try await Program.run("--quiet", "--slow", "1000000s", tree.path)
    #expect(none.errors == "")
  }

  @Test(arguments: ["--json", "--wiring"])
  func fileThatCannotBeWritten(_ option: String) async throws {
    let outcome = try await Program.run("--quiet", option, "\(tree.path)/no/file", tree.path)
    #expect(
      outcome.errors == """
        DirectoryScan: error: \(tree.path)/no/file: cannot be written (No such file or directory); \
        check that its folder exists, that there is room and that you may write there

        """)
    #expect(outcome.output.contains("0 files in 1 folder, 0 B; 0 links, 0 special files\n"))
    #expect(outcome.status == 1)
  }

  @Test func wiringShowsEveryListener() async throws {
    let outcome = try await Program.run("--wiring", "-", tree.path)
    #expect(outcome.output.hasPrefix("flowchart LR\n"))
    // Those who count, those who write, and those who draw.
    let listeners = [
      "Totals", "ExtensionTotals", "LargestFiles", "ProblemList", "DuplicateFinder",
      "ProgressMeter", "WiringFile", "ProgressLines",
    ]
    for name in listeners { #expect(outcome.output.contains(#"["\#(name)"]"#)) }
    for name in ["ProgressBar", "TextReport"] { #expect(!outcome.output.contains(name)) }
    #expect(outcome.status == 0)
  }

  /// A command that starts the program in a shell, with these redirections.
  private func launcher(_ redirections: String) -> [String] {
    ["/bin/sh", "-c", #"exec "$0" "$@" \#(redirections)"#]
  }

  @Test func nothingTakesThePlaceOfClosedStreams() async throws {
    // What would be opened first is left to chance.
    for _ in 0..<10 {
      let outcome = try await Program.run(
        "--json", "\(other.path)/report", tree.path, launcher: launcher("<&- >&- 2>&-"))
      #expect(try !ScanReport(other.text("report")).interrupted)
      #expect(outcome == Program.Outcome(status: 1))
    }
  }

  @Test func aReportThatIsLostIsAnError() async throws {
    let outcome = try await Program.run("--quiet", tree.path, launcher: launcher(">&-"))
    let error = "standard output: cannot be written (Bad file descriptor); "
    #expect(outcome.errors.hasPrefix("DirectoryScan: error: \(error)"))
    #expect(outcome.status == 1)
  }

  @Test func aPipeThatNobodyReadsEndsNothing() async throws {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let outcome = try await Program(
      ["--wiring", "\(other.path)/wiring", tree.path], errors: pipe.fileHandleForWriting,
      launcher: launcher(">&2")
    ).outcome()
    #expect(try other.text("wiring").hasPrefix("flowchart"))
    #expect(outcome.status == 0)
  }
}
