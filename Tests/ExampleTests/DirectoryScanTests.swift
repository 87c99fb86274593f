import Foundation
import Testing

/// The example DirectoryScan, as its users run it.
struct DirectoryScanTests {
  private let tree = Tree()
  private let other = Tree()

  private func run(_ arguments: String..., launcher: [String] = []) async throws -> Program.Outcome
  {
    try await Program("DirectoryScan", arguments, launcher: launcher).outcome()
  }

  @Test(arguments: [["--help"], ["-h"], ["--quiet", ".", "--help"]])
  func theHelpOptionPrintsTheUsage(_ arguments: [String]) async throws {
    let outcome = try await Program("DirectoryScan", arguments).outcome()
    #expect(outcome.output.hasPrefix("Usage: DirectoryScan [--json FILE] [--wiring FILE] "))
    #expect(outcome.errors == "" && outcome.status == 0)
  }

  @Test(arguments: [
    ([], "PATH is missing"),
    ([""], "PATH is empty"),
    (["--quiet"], "PATH is missing"),
    (["a", "b"], #"one PATH only, not "b" as well"#),
    (["--verbose", "."], #"unknown option "--verbose""#),
    (["-", "."], #"unknown option "-""#),
    (["--json"], "--json needs a FILE"),
    (["--json", "", "."], "--json needs a FILE"),
    (["--json", "-", "--json", "-", "."], "--json is given twice"),
    (["--wiring"], "--wiring needs a FILE"),
    (
      ["--wiring", "-", "--json", "-", "."],
      "--json and --wiring cannot both go to standard output"
    ),
    (
      ["--timeline", "-", "--wiring", "-", "."],
      "--wiring and --timeline cannot both go to standard output"
    ),
    (["--slow"], "--slow needs a TIME, as in 1ms or 2s"),
    (["--slow", "-1ms", "."], "--slow needs a TIME, as in 1ms or 2s"),
    (["--slow", "1ms", "--slow", "1ms", "."], "--slow is given twice"),
    (["--", "--quiet", "."], #"one PATH only, not "." as well"#),
  ])
  func wrongArgumentsPrintTheProblemAndTheUsage(_ arguments: [String], problem: String) async throws
  {
    let usage = try await run("--help").output
    let errors = "DirectoryScan: error: \(problem)\n\n\(usage)"
    let outcome = try await Program("DirectoryScan", arguments).outcome()
    #expect(outcome == Program.Outcome(status: 64, errors: errors))
  }

  @Test(arguments: [
    ("missing", "cannot be scanned (No such file or directory); check the path"),
    ("file", "not a folder; give the path of a folder"),
    ("--no option", "cannot be scanned (No such file or directory); check the path"),
  ])
  func aPathThatIsNotAFolderIsReported(_ name: String, problem: String) async throws {
    try tree.file("file")
    let path = name.hasPrefix("-") ? name : "\(tree.path)/\(name)"
    let errors = "DirectoryScan: error: \(path): \(problem)\n"
    #expect(try await run("--", path) == Program.Outcome(status: 1, errors: errors))
  }

  @Test func aScanReportsTotalsDuplicatesAndProblems() async throws {
    for (name, content) in ["a": "same", "in/b": "same", "in/other": "else", "in/empty": ""] {
      try tree.file(name, content)
    }
    let links = ["good": "a", "broken": "no\nwhere", "in/up": "../in", "self": "self", "top": "/"]
    for (name, target) in links { try tree.link(name, to: target) }
    try #require(link("\(tree.path)/in/other", "\(tree.path)/in/same file") == 0)
    try #require(mkfifo("\(tree.path)/pipe", 0o644) == 0)
    // Large files, which the program compares in slices. They differ only in the last byte.
    for name in ["1a", "2b", "3a"] {
      try tree.file(name, bytes: 5 << 20, endingWith: String(name.suffix(1)))
    }
    let outcome = try await run("--quiet", tree.path)
    #expect(
      outcome.output == """
        \(tree.path): 15.7 MB; files: 8, folders: 2, links: 5, special: 1

        Duplicates of 5.2 MB:
          "\(tree.path)/1a"
          "\(tree.path)/3a"

        Duplicates of 4 bytes:
          "\(tree.path)/a"
          "\(tree.path)/in/b"

        Problems:
          "\(tree.path)/broken": broken link to "no\\nwhere"; remove the link, unless you mean it
          "\(tree.path)/in/up": link cycle through "../in"; remove the link, unless you mean it
          "\(tree.path)/self": link cycle through "self"; remove the link, unless you mean it
          "\(tree.path)/top": link cycle through "/"; remove the link, unless you mean it

        """)
    #expect(outcome.status == 1 && outcome.errors == "")
    let json = try await run("--quiet", "--json", "-", tree.path + "/in/up").output
    #expect(json.contains(#""files" : 4,"#) && json.contains(#""interrupted" : false"#))
  }

  @Test func unreadableItemsAreReported() async throws {
    for name in ["locked/file", "secret", "b"] { try tree.file(name, "12") }
    for name in ["secret", "locked"] { chmod("\(tree.path)/\(name)", 0) }
    defer { chmod("\(tree.path)/locked", 0o755) }
    let setpriv = "/usr/bin/setpriv"
    // Removes root's permission to read every file.
    let powers = "-dac_override,-dac_read_search"
    let isRoot = geteuid() == 0
    if isRoot, !FileManager.default.isExecutableFile(atPath: setpriv) { return }
    let outcome = try await run(
      "--quiet", tree.path,
      launcher: isRoot ? [setpriv, "--inh-caps=\(powers)", "--bounding-set=\(powers)"] : [])
    let problem = "cannot be read (Permission denied); check that you may read it"
    #expect(outcome.output.contains("\n  \"\(tree.path)/locked/\": \(problem)\n"))
    #expect(outcome.output.contains("\n  \"\(tree.path)/secret\": \(problem)\n"))
    #expect(outcome.status == 1)
  }

  @Test func slowCallsAreReported() async throws {
    try tree.file("file")
    let all = try await run("--quiet", "--slow", "0us", tree.path)
    #expect(all.errors.contains("notify ScanListener #"))
    #expect(all.errors.contains(" called Duplicates, "))
    #expect(all.status == 0)
    let none = try await run("--quiet", "--slow", "1000000s", tree.path)
    #expect(none.errors == "")
  }

  @Test func theTimelineShowsTheCallsOfEachListener() async throws {
    try tree.file("file")
    let outcome = try await run("--quiet", "--timeline", "-", "--slow", "0us", tree.path)
    for name in ["notify ScanListener", "map ScanListener", "Totals", "Duplicates", "Problems"] {
      #expect(outcome.output.contains(#""name":"\#(name)""#))
    }
    #expect(outcome.errors.contains(" called Duplicates, "))
    #expect(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) is [String: Any])
    #expect(outcome.status == 0)
  }

  @Test func theWiringShowsEveryListener() async throws {
    let outcome = try await run("--wiring", "-", tree.path)
    for name in ["Totals", "Duplicates", "Problems", "ProgressView"] {
      #expect(outcome.output.contains(#"["\#(name)"]"#))
    }
    #expect(outcome.output.hasPrefix("flowchart LR\n") && outcome.status == 0)
  }

  @Test func anInterruptedScanPrintsItsReport() async throws {
    // Comparing these files takes longer than any test waits.
    for name in ["one", "two"] { try tree.file(name, bytes: 1 << 40) }
    let program = try Program("DirectoryScan", ["--json", "\(other.path)/report", tree.path])
    await program.interrupt(when: "compared")
    let outcome = try await program.outcome()
    #expect(outcome.output.hasPrefix("Interrupted: this is what was found so far.\n"))
    #expect(outcome.output.hasSuffix(": 2.2 TB; files: 2, folders: 1, links: 0, special: 0\n"))
    #expect(try other.text("report").contains(#""interrupted" : true"#))
    #expect(outcome.status == 130)
  }

  @Test func outputThatCannotBeWrittenIsReported() async throws {
    let file = "\(tree.path)/no/file"
    for (arguments, launcher, name, reason) in [
      (["--json", file], [], file, "No such file or directory"),
      ([], ["/bin/sh", "-c", #"exec "$0" "$@" >&-"#], "standard output", "Invalid argument"),
    ] {
      let outcome = try await Program(
        "DirectoryScan", ["--quiet"] + arguments + [tree.path], launcher: launcher
      ).outcome()
      let error = "\(name): cannot be written (\(reason)); check that its folder exists"
      #expect(outcome.errors == "DirectoryScan: error: \(error) and has room for it\n")
      #expect(outcome.status == 1)
    }
  }

  @Test func aClosedPipeDoesNotEndTheProgram() async throws {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let outcome = try await Program(
      "DirectoryScan", ["--wiring", "\(other.path)/wiring", tree.path],
      errors: pipe.fileHandleForWriting, launcher: ["/bin/sh", "-c", #"exec "$0" "$@" >&2"#]
    ).outcome()
    #expect(try other.text("wiring").hasPrefix("flowchart"))
    #expect(outcome.status == 0)
  }
}
