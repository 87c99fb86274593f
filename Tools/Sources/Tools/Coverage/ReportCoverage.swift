import Foundation

/// Prints which lines of the files in a folder have been run, and exits with 1 if they are too few:
///
///     report-coverage <export> <folder> <percent>
struct ReportCoverage {
  private let export: URL
  private let folder: URL
  private let limit: Double

  init(_ arguments: inout Arguments) throws {
    export = URL(filePath: try arguments.next("the file that llvm-cov exports"))
    folder = URL(filePath: try arguments.next("the folder"))
    guard let limit = Double(try arguments.next("the percentage")) else {
      throw UsageError("the percentage is not a number")
    }
    self.limit = limit
  }

  func run() throws {
    let export = try JSONDecoder().decode(CoverageExport.self, from: Data(contentsOf: export))
    let folder = folder.standardizedFileURL.resolvingSymlinksInPath().path + "/"
    let files = export.data.flatMap(\.files)
      .filter { $0.filename.hasPrefix(folder) }
      .map { (name: $0.filename.dropFirst(folder.count), lines: LineCoverage($0.segments)) }
    let folders = Dictionary(grouping: files) { file in
      file.name.split(separator: "/").dropLast().joined(separator: "/")
    }
    let width = (folders.keys.map(\.count).max() ?? 0) + 2
    func line(_ name: String, _ files: [LineCoverage]) -> String {
      let covered = files.reduce(0) { $0 + $1.covered }
      let all = files.reduce(0) { $0 + $1.all }
      let share = Self.percentage(of: covered, in: all)
      return name.padding(toLength: width, withPad: " ", startingAt: 0)
        + String(format: "%6.2f %%  %5d of %5d lines", share, covered, all)
    }
    for (folder, files) in folders.sorted(by: { $0.key < $1.key }) {
      print(line(folder, files.map(\.lines)))
    }
    let all = files.map(\.lines)
    print(line("All", all))
    print("\nNot run:")
    for file in files.sorted(by: { $0.name < $1.name }) where !file.lines.uncovered.isEmpty {
      print("  \(file.name): \(file.lines.uncoveredRanges)")
    }
    let share = Self.percentage(
      of: all.reduce(0) { $0 + $1.covered }, in: all.reduce(0) { $0 + $1.all })
    guard share >= limit else {
      throw Problems([
        String(format: "error: %.2f %% of the lines have been run, not %g %%", share, limit)
      ])
    }
  }

  /// 0 of 0 lines are too few.
  private static func percentage(of covered: Int, in all: Int) -> Double {
    all == 0 ? 0 : 100 * Double(covered) / Double(all)
  }
}
