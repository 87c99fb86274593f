import Testing

/// The command line.
struct ArgumentTests {
  @Test(arguments: [["--help"], ["-h"], ["--quiet", ".", "--help"]])
  func help(_ arguments: [String]) async throws {
    let outcome = try await Program.run(arguments)

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
    (["--"], "PATH is missing"),
    (["--", "--quiet", "."], #"one PATH only, not "." as well"#),
  ])
  func misuse(_ arguments: [String], problem: String) async throws {
    let usage = try await Program.run(["--help"]).output

    let outcome = try await Program.run(arguments)

    #expect(outcome.errors == "DirectoryScan: error: \(problem)\n\n\(usage)")
    #expect(outcome.output == "")
    #expect(outcome.status == 64)
  }

  @Test func endOfOptions() async throws {
    let outcome = try await Program.run(["--", "--no such folder"])

    #expect(outcome.errors.hasPrefix("DirectoryScan: error: --no such folder: cannot be scanned ("))
    #expect(outcome.status == 1)
  }
}
