import Foundation

/// Several measurements of the same thing.
struct Measurement: Sendable {
  /// The one that was disturbed least.
  let best: Double

  let median: Double

  /// Sums up measurements, at least one.
  init(_ samples: [Double]) {
    let sorted = samples.sorted()
    best = sorted[0]
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  /// What was counted or computed.
  init(exactly value: Double) { (best, median) = (value, value) }
}

/// A table of measurements.
struct Table {
  /// A cell is nil where nothing was measured.
  typealias Columns = [[Measurement?]]

  let title: String

  /// What the numbers are.
  let unit: String

  let columns: [String]

  let rows: [String]

  /// The row that the others are compared with.
  var baseline: Int?

  /// What a reader has to know.
  var note: String?

  /// Whether its columns are numbers of clients, which `Chart` draws.
  var isDrawn = false

  let measure: () -> Columns

  /// The table for a terminal, in columns of equal width.
  func text(_ measured: Columns) -> String {
    let cells = measured.map { column in
      let base = baseline.flatMap { column[$0]?.best }
      return column.map { $0.map { text($0, base) } ?? "–" }
    }
    let texts = zip([""] + columns, [rows] + cells).map { [$0] + $1 }
    let widths = texts.map { $0.map(\.count).max() ?? 0 }
    let grid = (0...rows.count).map { line in
      "  " + texts[0][line].padding(toLength: widths[0], withPad: " ", startingAt: 0)
        + zip(texts, widths).dropFirst().map { "   " + padded($0[line], $1) }.joined()
    }
    return ([title + ", " + unit] + grid + [note].compactMap(\.self)).joined(separator: "\n") + "\n"
  }

  /// The best measurement, with its ratio to the baseline's or with the median.
  private func text(_ cell: Measurement, _ base: Double?) -> String {
    let (best, median) = (digits(cell.best), digits(cell.median))
    guard let base, base > 0 else { return best == median ? best : "\(best) (\(median))" }
    let ratio = cell.best / base
    return best + padded("×" + (ratio < 9.995 ? String(format: "%.2f", ratio) : digits(ratio)), 7)
  }
}

/// A table's rows as columns.
func transposed<Cell>(_ rows: [[Cell]]) -> [[Cell]] {
  rows[0].indices.map { column in rows.map { $0[column] } }
}

private func padded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

/// A number with about three digits that say something.
func digits(_ value: Double) -> String {
  switch value {
  case ..<10: String(format: "%.2f", value)
  case ..<100: String(format: "%.1f", value)
  default: grouped(Int(value.rounded()))
  }
}

/// A natural number, with a comma for every three digits.
func grouped(_ number: Int) -> String {
  number < 1_000
    ? "\(number)" : grouped(number / 1_000) + "," + String(format: "%03d", number % 1_000)
}
