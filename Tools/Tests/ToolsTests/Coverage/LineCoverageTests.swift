import Foundation
import Testing

@testable import Tools

struct LineCoverageTests {
  /// Segments as llvm-cov writes them: line, column, count, has a count, begins a region, is a gap.
  private func coverage(_ segments: String) throws -> LineCoverage {
    let json = """
      { "data": [{ "files": [{ "filename": "a", "segments": [\(segments)] }] }] }
      """
    let export = try JSONDecoder().decode(CoverageExport.self, from: Data(json.utf8))
    return LineCoverage(export.data[0].files[0].segments)
  }

  @Test func `a line is covered if any of its regions has been run`() throws {
    // func a() {        3 times
    //   if b { c() }    the condition 3 times, the braces never
    //   guard d else {  3 times
    //     e()           never
    //   }
    // }
    let lines = try coverage(
      """
      [1, 10, 3, true, true, false], [2, 8, 0, true, true, false], [2, 15, 3, true, false, false],
      [3, 16, 0, true, true, false], [5, 4, 3, true, false, false], [6, 2, 0, false, false, false]
      """)
    #expect(lines.covered == 4)
    #expect(lines.uncovered == [4, 5])
    #expect(lines.all == 6)
    #expect(lines.uncoveredRanges == "4-5")
  }

  @Test func `lines between functions have no code`() throws {
    let lines = try coverage(
      """
      [1, 10, 0, true, true, false], [2, 2, 0, false, false, false],
      [5, 10, 1, true, true, false], [7, 2, 0, false, false, false],
      [9, 10, 0, true, true, false], [9, 20, 0, false, false, false]
      """)
    #expect(lines.covered == 3)
    #expect(lines.uncovered == [1, 2, 9])
    #expect(lines.uncoveredRanges == "1-2, 9")
  }

  @Test func `a gap does not cover a line`() throws {
    let lines = try coverage(
      """
      [1, 1, 0, true, true, false], [2, 3, 5, true, true, true], [2, 9, 0, true, true, false],
      [3, 2, 0, false, false, false]
      """)
    #expect(lines.uncovered == [1, 2, 3])
  }

  @Test func `a file without code has no lines`() throws {
    #expect(try coverage("").all == 0)
  }
}
