import Foundation
import Testing

/// What cannot be read, or written.
struct ProblemTests {
  /// What takes from root the power to read everything; nothing for other users, and nil where that
  /// cannot be done.
  private static let launcher: [String]? = {
    if geteuid() != 0 { return [] }
    let powers = "-dac_override,-dac_read_search"
    return FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
      ? ["/usr/bin/setpriv", "--inh-caps=\(powers)", "--bounding-set=\(powers)"] : nil
  }()

  @Test(.enabled(if: launcher != nil, "root reads everything, and there is no setpriv"))
  func unreadableFoldersAndFiles() async throws {
    let tree = try Tree()
    try tree.folder("readable")
    try tree.folder("locked/inside")
    try tree.file("locked/file", "12")
    try tree.file("a", "12")
    try tree.file("b", "12")
    try tree.file("secret", "12")
    try tree.setMode(0, of: "secret")
    try tree.setMode(0, of: "locked")
    defer { try? tree.setMode(0o755, of: "locked") }
    let launcher = try #require(Self.launcher)

    let (report, status) = try await Program.scan(tree.path, launcher: launcher)
    let text = try await Program.run(["--quiet", tree.path], launcher: launcher).output

    #expect(report.totals == .init(files: 3, folders: 3, bytes: 6))
    #expect(report.duplicates.map { $0.files.map { $0.path.suffix(1) } } == [["a", "b"]])
    #expect(
      report.problems
        == ["locked", "secret"].map {
          .init(path: "\(tree.path)/\($0)", kind: "unreadable", reason: "Permission denied")
        })
    #expect(status == 1)
    #expect(
      text.hasSuffix(
        """
        Problems:
          \(tree.path)/locked: cannot be read (Permission denied); check that you may read it
          \(tree.path)/secret: cannot be read (Permission denied); check that you may read it

        """))
  }

  @Test func linksAreShownWithTheirTargets() async throws {
    let tree = try Tree()
    try tree.link("broken", to: "no\nwhere")
    try tree.link("cycle", to: ".")

    let outcome = try await Program.run(["--quiet", tree.path])

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
    let tree = try Tree()
    for number in 0..<1000 {
      try tree.folder("\(number % 10)/\(number)")
      try tree.file("\(number % 10)/\(number)/file", "same")
    }
    let path = tree.path

    let program = try Program(["--quiet", "--json", "-", path])
    for number in 0..<10 {
      try FileManager.default.removeItem(atPath: "\(path)/\(number)")
    }
    let outcome = try await program.outcome()

    let report = try ScanReport(outcome.output)
    #expect(report.problems.allSatisfy { $0.kind == "vanished" })
    #expect(outcome.status == (report.problems.isEmpty ? 0 : 1))
  }

  @Test func filesThatAreDeletedWhileTheyAreCompared() async throws {
    let tree = try Tree()
    // Comparing them takes longer than any test waits.
    for name in ["one", "two"] { try tree.file(name, bytes: 1 << 40) }

    let program = try Program(["--json", "-", tree.path])
    try await program.wait { try program.errorsSoFar().contains("compared") }
    for name in ["one", "two"] {
      try FileManager.default.removeItem(atPath: "\(tree.path)/\(name)")
    }
    let outcome = try await program.outcome()

    let report = try ScanReport(outcome.output)
    #expect(
      report.problems
        == ["one", "two"].map { .init(path: "\(tree.path)/\($0)", kind: "vanished") })
    #expect(report.totals == .init(files: 2, folders: 1, bytes: 2 << 40))
    #expect(report.duplicates == [])
    #expect(!report.interrupted)
    #expect(outcome.status == 1)
  }

  @Test func jsonThatCannotBeWritten() async throws {
    let tree = try Tree()
    try tree.file("file", "1")

    let outcome = try await Program.run(["--quiet", "--json", "\(tree.path)/no/file", tree.path])

    #expect(
      outcome.errors == """
        DirectoryScan: error: \(tree.path)/no/file: cannot be written (No such file or directory); \
        check that its folder exists, that there is room and that you may write there

        """)
    #expect(outcome.output.contains("1 file in 1 folder, 1 B; 0 links, 0 special files\n"))
    #expect(outcome.status == 1)
  }

  @Test func pathThatIsMissing() async throws {
    let tree = try Tree()

    let outcome = try await Program.run(["\(tree.path)/missing"])

    #expect(
      outcome.errors == """
        DirectoryScan: error: \(tree.path)/missing: cannot be scanned (No such file or directory); \
        check the path

        """)
    #expect(outcome.output == "")
    #expect(outcome.status == 1)
  }

  @Test func pathThatIsAFile() async throws {
    let tree = try Tree()
    try tree.file("file")

    let outcome = try await Program.run(["\(tree.path)/file"])

    #expect(
      outcome.errors == """
        DirectoryScan: error: \(tree.path)/file: not a folder; give the path of a folder

        """)
    #expect(outcome.output == "")
    #expect(outcome.status == 1)
  }
}
