import Foundation
import Testing

/// Which files are taken for duplicates.
struct DuplicateTests {
  private let tree = Tree()

  /// Many slices, which differ in the last byte alone.
  @Test func comparesEveryByte() async throws {
    let bytes = 40 << 20
    for (name, end) in ["a1", "b2", "c1"].map({ ($0, $0.suffix(1)) }) {
      try tree.file(name, bytes: bytes, endingWith: String(end))
    }
    try tree.file("longer1", bytes: bytes + 1, endingWith: "1")
    let report = try await Program.scan(tree.path)
    let files = ["a1", "c1"].map { ScanReport.Item(path: "\(tree.path)/\($0)") }
    #expect(report.duplicates == [.init(bytes: bytes, wasted: bytes, files: files)])
  }

  @Test func groupsTheMostWastefulFirst() async throws {
    for name in ["a", "b", "c"] { try tree.file(name, "1234") }
    for name in ["d", "e"] { try tree.file(name, "123456") }
    for name in ["f", "g"] { try tree.file(name, "abcdef") }
    for name in ["empty", "empty, too"] { try tree.file(name) }
    // The names of one file are no duplicates.
    try tree.file("one name", "1234567")
    try #require(link("\(tree.path)/one name", "\(tree.path)/another") == 0)
    let report = try await Program.scan(tree.path)
    #expect(report.duplicates.map(\.wasted) == [8, 6, 6])
    #expect(report.duplicates.map(\.names) == [["a", "b", "c"], ["d", "e"], ["f", "g"]])
    #expect(report.problems == [])
  }
}

extension ScanReport.Item {
  /// The names of the files in a group.
  var names: [String]? { files?.compactMap { $0.path.map { ($0 as NSString).lastPathComponent } } }
}
