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
  let title: String

  /// What the numbers are.
  let unit: String

  let columns: [String]

  /// A cell is nil where nothing was measured.
  let rows: [(title: String, cells: [Measurement?])]

  /// The row that the others are compared with.
  let baseline: String?

  /// What a reader has to know.
  let note: String?

  /// The table for a terminal, in columns of equal width.
  var text: String {
    var lines = [title + ", " + unit]
    if baseline == nil {
      lines += grid { _, cell in
        let (best, median) = (digits(cell.best), digits(cell.median))
        return cell.best == cell.median ? best : "\(best) (\(median))"
      }
    } else {
      lines += ["best"] + compared(\.best) + ["median"] + compared(\.median)
    }
    return (lines + [note].compactMap { $0 }).joined(separator: "\n") + "\n"
  }

  /// Every measurement and its ratio to the baseline's.
  private func compared(_ value: (Measurement) -> Double) -> [String] {
    let base = rows.first { $0.title == baseline }
    return grid { column, cell in
      let text = digits(value(cell))
      guard let base = base?.cells[column].map(value), base > 0 else { return text }
      let ratio = value(cell) / base
      return text + padded("×" + (ratio < 9.995 ? String(format: "%.2f", ratio) : digits(ratio)), 7)
    }
  }

  private func grid(_ text: (_ column: Int, Measurement) -> String) -> [String] {
    let lines =
      [[""] + columns]
      + rows.map { row in
        [row.title] + columns.indices.map { i in row.cells[i].map { text(i, $0) } ?? "–" }
      }
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      let title = line[0].padding(toLength: widths[0], withPad: " ", startingAt: 0)
      return "  " + title + zip(line, widths).dropFirst().map { "   " + padded($0, $1) }.joined()
    }
  }
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
