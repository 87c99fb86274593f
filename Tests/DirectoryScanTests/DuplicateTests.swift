import Foundation
import Testing

/// Which files are taken for duplicates.
struct DuplicateTests {
  /// More than is read in one task.
  private static let slices = 40 << 20

  @Test func comparesEveryByte() async throws {
    let tree = try Tree()
    try tree.file("a", bytes: Self.slices, endingWith: "1")
    try tree.file("b", bytes: Self.slices, endingWith: "2")
    try tree.file("c", bytes: Self.slices, endingWith: "1")
    try tree.file("longer", bytes: Self.slices + 1, endingWith: "1")

    let (report, _) = try await Program.scan(tree.path)

    #expect(
      report.duplicates == [
        .init(
          bytes: Self.slices, wasted: Self.slices,
          files: [.init(path: "\(tree.path)/a"), .init(path: "\(tree.path)/c")])
      ])
  }

  @Test func groupsTheMostWastefulFirst() async throws {
    let tree = try Tree()
    for name in ["a", "b", "c"] { try tree.file(name, "1234") }
    for name in ["d", "e"] { try tree.file(name, "123456") }
    for name in ["f", "g"] { try tree.file(name, "abcdef") }
    for name in ["empty", "empty, too"] { try tree.file(name) }

    let (report, status) = try await Program.scan(tree.path)

    #expect(report.duplicates.map(\.wasted) == [8, 6, 6])
    #expect(
      report.duplicates.map { $0.files.map { $0.path.suffix(1) } } == [
        ["a", "b", "c"], ["d", "e"], ["f", "g"],
      ])
    #expect(status == 0)
  }

  @Test func countsTheNamesOfAFileAsOne() async throws {
    let tree = try Tree()
    try tree.file("a", "12")
    try tree.secondName("b", of: "a")

    let (report, _) = try await Program.scan(tree.path)

    #expect(report.duplicates == [])
    #expect(report.totals == .init(files: 2, folders: 1, bytes: 4))
  }
}
