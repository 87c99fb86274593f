import Foundation
import Testing

/// What is found in trees.
struct TreeTests {
  @Test func findsEverything() async throws {
    let tree = try Tree()
    try tree.folder("nested/deeper")
    try tree.folder("empty")
    try tree.folder("with space")
    try tree.file("nested/one.txt", "same")
    try tree.file("nested/deeper/two.TXT", "same")
    try tree.file("nested/other.txt", "else")
    try tree.file("with space/a b.md", "12")
    try tree.file("with space/new\nline", "1")
    try tree.file("with space/🦊.md", "123456")
    try tree.file("empty.txt")
    try tree.file(".hidden", "12345")
    try tree.file("archive.", "1234567")
    try tree.secondName("nested/again", of: "nested/one.txt")
    try tree.pipe("pipe")
    try tree.link("good", to: "nested/one.txt")
    try tree.link("to folder", to: "empty")
    try tree.link("broken", to: "no\nwhere")
    try tree.link("through file", to: "empty.txt/x")
    try tree.link("self", to: "self")
    try tree.link("ping", to: "pong")
    try tree.link("pong", to: "ping")
    try tree.link("nested/up", to: "../nested")
    try tree.link("nested/deeper/outside", to: "../../..")
    let root = tree.path

    let (report, status) = try await Program.scan(root)

    #expect(status == 1)
    #expect(report.path == root)
    #expect(report.pathBytes == nil)
    #expect(!report.interrupted)
    #expect(report.totals == .init(files: 10, folders: 5, links: 9, special: 1, bytes: 37))
    #expect(
      report.extensions == [
        .init(extension: "", files: 4, bytes: 17),
        .init(extension: "txt", files: 4, bytes: 12),
        .init(extension: "md", files: 2, bytes: 8),
      ])
    #expect(
      report.largest == [
        .init(path: "\(root)/archive.", bytes: 7),
        .init(path: "\(root)/with space/🦊.md", bytes: 6),
        .init(path: "\(root)/.hidden", bytes: 5),
        .init(path: "\(root)/nested/again", bytes: 4),
        .init(path: "\(root)/nested/deeper/two.TXT", bytes: 4),
        .init(path: "\(root)/nested/one.txt", bytes: 4),
        .init(path: "\(root)/nested/other.txt", bytes: 4),
        .init(path: "\(root)/with space/a b.md", bytes: 2),
        .init(path: "\(root)/with space/new\nline", bytes: 1),
        .init(path: "\(root)/empty.txt", bytes: 0),
      ])
    #expect(
      report.duplicates == [
        .init(
          bytes: 4, wasted: 4,
          files: [
            .init(path: "\(root)/nested/again"), .init(path: "\(root)/nested/deeper/two.TXT"),
          ])
      ])
    #expect(
      report.problems == [
        .init(path: "\(root)/broken", kind: "brokenLink", target: "no\nwhere"),
        .init(path: "\(root)/nested/deeper/outside", kind: "linkCycle", target: "../../.."),
        .init(path: "\(root)/nested/up", kind: "linkCycle", target: "../nested"),
        .init(path: "\(root)/ping", kind: "linkCycle", target: "pong"),
        .init(path: "\(root)/pong", kind: "linkCycle", target: "ping"),
        .init(path: "\(root)/self", kind: "linkCycle", target: "self"),
        .init(path: "\(root)/through file", kind: "brokenLink", target: "empty.txt/x"),
      ])
  }

  @Test func findsNothingInAnEmptyFolder() async throws {
    let tree = try Tree()

    let (report, status) = try await Program.scan(tree.path)

    let expected = ScanReport(
      path: tree.path, interrupted: false, totals: .init(folders: 1), extensions: [],
      largest: [], duplicates: [], problems: [])
    #expect(report == expected)
    #expect(status == 0)
  }

  #if os(Linux)  // Apple's file systems refuse such names.
    @Test func keepsTheBytesOfNamesThatAreNotUTF8() async throws {
      let tree = try Tree()
      let name: [UInt8] = [0x61, 0xFF, 0x2E, 0xC3, 0x5A]
      try tree.file(name, "12")
      let path = Data("\(tree.path)/".utf8) + name

      let (report, _) = try await Program.scan(tree.path)
      let text = try await Program.run([tree.path]).output

      #expect(
        report.largest == [
          .init(path: "\(tree.path)/a\u{FFFD}.\u{FFFD}Z", pathBytes: path, bytes: 2)
        ])
      #expect(
        report.extensions == [
          .init(
            extension: "\u{FFFD}z", extensionBytes: Data([0xC3, 0x7A]), files: 1, bytes: 2)
        ])
      #expect(text.contains(#"2 B \#(tree.path)/a\xFF.\xC3Z"#))
    }
  #endif

  /// More than one task reads in one go, in one folder.
  @Test func readsWideFolders() async throws {
    let tree = try Tree()
    try tree.folder("folders")
    for number in 0..<2500 { try tree.file("\(number).n") }
    for number in 0..<1500 { try tree.folder("folders/\(number)") }

    let (report, _) = try await Program.scan(tree.path)

    #expect(report.totals == .init(files: 2500, folders: 1502))
    #expect(report.extensions == [.init(extension: "n", files: 2500, bytes: 0)])
    #expect(report.problems == [])
  }

  /// The paths are longer than the system takes at once, and the folders deeper than files may be open.
  @Test func readsDeepFolders() async throws {
    let tree = try Tree()
    let name = String(repeating: "n", count: 100)
    let deep = try tree.chain(of: name, depth: 1200, file: "deep", "same")
    try tree.file("flat", "same")

    let (report, status) = try await Program.scan(tree.path)

    #expect(report.totals == .init(files: 2, folders: 1201, bytes: 8))
    #expect(
      report.duplicates == [
        .init(
          bytes: 4, wasted: 4,
          files: [.init(path: "\(tree.path)/flat"), .init(path: "\(tree.path)/\(deep)")])
      ])
    #expect(status == 0)
  }

  @Test func ordersTheReportWhateverTheSchedule() async throws {
    let tree = try Tree()
    for number in 0..<300 {
      try tree.folder("\(number % 50)/\(number)")
      try tree.file("\(number % 50)/\(number)/x.\(number % 7)", "\(number % 11)")
      try tree.link("\(number % 50)/\(number)/up", to: "..")
    }

    let first = try await Program.run(["--quiet", tree.path])
    let second = try await Program.run(["--quiet", tree.path])

    #expect(first.output == second.output)
    #expect(first.output.contains("300 files in 351 folders, 327 B; 300 links, 0 special files\n"))
  }

  @Test(arguments: ["", "/", "//", "/."])
  func followsALinkThatIsThePath(_ end: String) async throws {
    let tree = try Tree()
    try tree.folder("real")
    try tree.file("real/file", "1")
    try tree.link("link", to: "real")
    let path = "\(tree.path)/link\(end)"

    let (report, status) = try await Program.scan(path)

    let folder = end == "/." ? path : "\(tree.path)/link"
    #expect(report.path == path)
    #expect(report.largest == [.init(path: "\(folder)/file", bytes: 1)])
    #expect(status == 0)
  }
}
