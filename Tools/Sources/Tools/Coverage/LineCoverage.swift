/// Which lines of a file have been run, by the rules of `llvm-cov show`.
///
/// A line counts once. (`llvm-cov report` counts one of a closure for the function around it, too.)
struct LineCoverage: Equatable {
  /// Lines with code that has been run, and lines with code of which none has been.
  private(set) var covered = 0
  private(set) var uncovered: [Int] = []

  init(_ segments: [CoverageExport.Segment]) {
    guard let first = segments.first, let last = segments.last else { return }
    var rest = segments[...]
    // The count that holds where the line begins.
    var current: CoverageExport.Segment?
    for line in first.line...last.line {
      let own = rest.prefix { $0.line == line }
      rest = rest.dropFirst(own.count)
      let regions = own.filter { $0.beginsRegion && $0.hasCount }
      let isSkipped = own.first.map { $0.beginsRegion && !$0.hasCount } ?? false
      if !regions.isEmpty || !isSkipped && current?.hasCount == true {
        let counts = regions.filter { !$0.isGap }.map(\.count) + [current?.count ?? 0]
        if counts.contains(where: { $0 > 0 }) { covered += 1 } else { uncovered.append(line) }
      }
      current = own.last ?? current
    }
  }

  var all: Int { covered + uncovered.count }

  /// The uncovered lines as text: `3, 7-9`.
  var uncoveredRanges: String {
    uncovered.reduce(into: [ClosedRange<Int>]()) { ranges, line in
      if let last = ranges.last, last.upperBound + 1 == line {
        ranges[ranges.count - 1] = last.lowerBound...line
      } else {
        ranges.append(line...line)
      }
    }
    .map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    .joined(separator: ", ")
  }
}
