import Foundation
import Testing

/// What cannot be read.
struct ProblemTests {
  private let tree = Tree()

  /// What takes from root the power to read everything; nothing for other users, and nil where that
  /// cannot be done.
  private static let launcher: [String]? = {
    if geteuid() != 0 { return [] }
    let setpriv = "/usr/bin/setpriv"
    let powers = "-dac_override,-dac_read_search"
    return FileManager.default.isExecutableFile(atPath: setpriv)
      ? [setpriv, "--inh-caps=\(powers)", "--bounding-set=\(powers)"] : nil
  }()

  @Test(.enabled(if: launcher != nil, "root reads everything, and there is no setpriv"))
  func unreadableFoldersAndFiles() async throws {
    try tree.folder("locked/inside")
    for name in ["a", "b", "secret", "locked/file"] { try tree.file(name, "12") }
    for name in ["secret", "locked"] { chmod("\(tree.path)/\(name)", 0) }
    defer { chmod("\(tree.path)/locked", 0o755) }
    let launcher = try #require(Self.launcher)
    let report = try await Program.scan(tree.path, launcher: launcher)
    let outcome = try await Program.run("--quiet", tree.path, launcher: launcher)
    #expect(report.totals == .init(files: 3, folders: 2, bytes: 6))
    #expect(report.duplicates.map(\.names) == [["a", "b"]])
    let reason = "Permission denied"
    #expect(
      report.problems
        == ["locked", "secret"].map {
          .init(path: "\(tree.path)/\($0)", kind: "unreadable", reason: reason)
        })
    #expect(outcome.status == 1)
    #expect(
      outcome.output.hasSuffix(
        """
        Problems:
          \(tree.path)/locked: cannot be read (\(reason)); check that you may read it
          \(tree.path)/secret: cannot be read (\(reason)); check that you may read it

        """))
  }

  @Test func linksAreShownWithTheirTargets() async throws {
    try tree.link("broken", to: "no\nwhere")
    try tree.link("cycle", to: ".")
    let outcome = try await Program.run("--quiet", tree.path)
    #expect(
      outcome.output.hasSuffix(
        """
        Problems:
          \(tree.path)/broken: broken link to no\\nwhere; restore what it leads to, or remove the link
          \(tree.path)/cycle: link cycle through .; remove the link, unless you mean it

        """))
    #expect(outcome.status == 1)
  }

  /// How much of the tree is seen depends on who is faster; that what is gone has vanished does not.
  @Test func treeThatIsDeletedMeanwhile() async throws {
    for number in 0..<400 {
      try tree.folder("\(number % 10)/\(number)")
      try tree.file("\(number % 10)/\(number)/file", "same")
    }
    let program = try Program(["--quiet", "--json", "-", tree.path])
    for number in 0..<10 { try tree.remove("\(number)") }
    let outcome = try await program.outcome()
    let problems = try outcome.report.problems
    #expect(problems.allSatisfy { $0.kind == "vanished" })
    #expect(outcome.status == (problems.isEmpty ? 0 : 1))
  }

  @Test func filesThatAreDeletedWhileTheyAreCompared() async throws {
    try tree.endlessFiles()
    let names = ["one.txt", "two.txt"]
    let program = try Program(["--json", "-", tree.path])
    try await program.wait(for: "compared")
    for name in names { try tree.remove(name) }
    let outcome = try await program.outcome()
    // When one has vanished, the other is alone, and need not be read any more.
    let report = try outcome.report
    let vanished = names.map {
      ScanReport.Item(path: "\(tree.path)/\($0)", kind: "vanished")
    }
    #expect(!report.problems.isEmpty && report.problems.allSatisfy(vanished.contains))
    #expect(report.totals == .init(files: 2, folders: 1, bytes: 2 << 40))
    #expect(report.duplicates == [])
    #expect(!report.interrupted)
    #expect(outcome.status == 1)
  }
}
