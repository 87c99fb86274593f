import Foundation
import Testing

/// What is found in trees.
struct TreeTests {
  private let tree = Tree()
  private var root: String { tree.path }

  @Test func findsEverything() async throws {
    for name in ["nested/deeper", "empty", "with space"] { try tree.folder(name) }
    let files = [
      "nested/one.txt": "same", "nested/deeper/two.TXT": "same", "nested/other.txt": "else",
      "with space/a b.md": "12", "with space/new\nline": "1", "with space/🦊.md": "123456",
      "empty.txt": "", ".hidden": "12345", "archive.": "1234567",
    ]
    for (name, content) in files { try tree.file(name, content) }
    let links = [
      "good": "nested/one.txt", "to folder": "empty", "broken": "no\nwhere",
      "through file": "empty.txt/x", "self": "self", "ping": "pong", "pong": "ping",
      "nested/up": "../nested", "nested/deeper/outside": "../../..",
    ]
    for (name, target) in links { try tree.link(name, to: target) }
    try #require(link("\(root)/nested/one.txt", "\(root)/nested/again") == 0)
    try #require(mkfifo("\(root)/pipe", 0o644) == 0)
    let outcome = try await Program.run("--quiet", "--json", "-", root)
    #expect(outcome.status == 1)
    let largest = [
      ("archive.", 7), ("with space/🦊.md", 6), (".hidden", 5), ("nested/again", 4),
      ("nested/deeper/two.TXT", 4), ("nested/one.txt", 4), ("nested/other.txt", 4),
      ("with space/a b.md", 2), ("with space/new\nline", 1), ("empty.txt", 0),
    ]
    let duplicates = ["nested/again", "nested/deeper/two.TXT"]
    let problems = [
      ("broken", "brokenLink", "no\nwhere"), ("nested/deeper/outside", "linkCycle", "../../.."),
      ("nested/up", "linkCycle", "../nested"), ("ping", "linkCycle", "pong"),
      ("pong", "linkCycle", "ping"), ("self", "linkCycle", "self"),
      ("through file", "brokenLink", "empty.txt/x"),
    ]
    let expected = ScanReport(
      path: root, totals: .init(files: 10, folders: 5, links: 9, special: 1, bytes: 37),
      extensions: [
        .init(extension: "", files: 4, bytes: 17), .init(extension: "txt", files: 4, bytes: 12),
        .init(extension: "md", files: 2, bytes: 8),
      ],
      largest: largest.map { .init(path: "\(root)/\($0)", bytes: $1) },
      duplicates: [
        .init(bytes: 4, wasted: 4, files: duplicates.map { .init(path: "\(root)/\($0)") })
      ],
      problems: problems.map { .init(path: "\(root)/\($0)", kind: $1, target: $2) })
    #expect(try outcome.report == expected)
  }

  @Test func findsNothingInAnEmptyFolder() async throws {
    let outcome = try await Program.run("--quiet", "--json", "-", root)
    #expect(try outcome.report == ScanReport(path: root, totals: .init(folders: 1)))
    #expect(outcome.status == 0)
  }

  #if os(Linux)  // Apple's file systems refuse such names.
    @Test func keepsTheBytesOfNamesThatAreNotUTF8() async throws {
      let path = Data("\(root)/a".utf8) + [0xFF, 0x2E, 0xC3, 0x5A]
      close(creat((path + [0]).map(CChar.init(bitPattern:)), 0o644))
      try #require(symlink([CChar(bitPattern: 0xFE), 0], "\(root)/link") == 0)
      let report = try await Program.scan(root)
      let text = try await Program.run("--quiet", root).output
      #expect(
        report.largest == [.init(path: "\(root)/a\u{FFFD}.\u{FFFD}Z", pathBytes: path, bytes: 0)])
      let name = Data([0xC3, 0x7A])
      #expect(
        report.extensions == [
          .init(extension: "\u{FFFD}z", extensionBytes: name, files: 1, bytes: 0)
        ])
      #expect(report.problems.map(\.targetBytes) == [Data([0xFE])])
      #expect(text.contains(#"0 B \#(root)/a\xFF.\xC3Z"#))
      #expect(text.contains(#"broken link to \xFE; "#))
    }
  #endif

  /// More than is announced at once, in one folder.
  @Test func readsWideFolders() async throws {
    for number in 0..<1100 { try tree.file("\(number).n") }
    for number in 0..<1050 { try tree.folder("folders/\(number)") }
    let report = try await Program.scan(root)
    #expect(report.totals == .init(files: 1100, folders: 1052))
    #expect(report.extensions == [.init(extension: "n", files: 1100, bytes: 0)])
    #expect(report.problems == [])
  }

  /// The paths are longer than the system takes at once, and the folders deeper than files may be open.
  @Test func readsDeepFolders() async throws {
    let name = String(repeating: "n", count: 5)
    var folder = open(root, O_RDONLY)
    for _ in 0..<1200 {
      try #require(mkdirat(folder, name, 0o755) == 0)
      let inner = openat(folder, name, O_RDONLY)
      close(folder)
      folder = inner
    }
    let file = FileHandle(
      fileDescriptor: openat(folder, "deep", O_WRONLY | O_CREAT, 0o644), closeOnDealloc: true)
    close(folder)
    try file.write(contentsOf: Data("same".utf8))
    try tree.file("flat", "same")
    let report = try await Program.scan(root)
    #expect(report.totals == .init(files: 2, folders: 1201, bytes: 8))
    let deep = String(repeating: "\(name)/", count: 1200) + "deep"
    let files = ["flat", deep].map { ScanReport.Item(path: "\(root)/\($0)") }
    #expect(report.duplicates == [.init(bytes: 4, wasted: 4, files: files)])
    #expect(report.problems == [])
  }

  @Test func ordersTheReportWhateverTheSchedule() async throws {
    for number in 0..<300 {
      try tree.folder("\(number % 50)/\(number)")
      try tree.file("\(number % 50)/\(number)/x.\(number % 7)", "\(number % 11)")
      try tree.link("\(number % 50)/\(number)/up", to: "..")
    }
    let first = try await Program.run("--quiet", root).output
    let second = try await Program.run("--quiet", root).output
    #expect(first == second)
    #expect(first.contains("300 files in 351 folders, 327 B; 300 links, 0 special files\n"))
  }

  @Test(arguments: ["", "/", "//", "/."])
  func followsALinkThatIsThePath(_ end: String) async throws {
    try tree.folder("real")
    try tree.file("real/file", "1")
    try tree.link("link", to: "real")
    let report = try await Program.scan("\(root)/link\(end)")
    #expect(report.path == "\(root)/link\(end)")
    let folder = "\(root)/link" + (end == "/." ? end : "")
    #expect(report.largest == [.init(path: "\(folder)/file", bytes: 1)])
    #expect(report.problems == [])
  }
}
