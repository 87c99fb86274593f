import Foundation

extension Table {
  /// The table for a terminal, in columns of equal width.
  var text: String {
    var lines = [title + ", " + unit]
    if baseline == nil {
      lines += grid { row, column in row.cells[column].map(Self.text) }
    } else {
      lines += ["best"] + grid { row, column in text(row, column, \.best) }
      lines += ["median"] + grid { row, column in text(row, column, \.median) }
    }
    if let note { lines.append(note) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A measurement and its ratio to the baseline's.
  private func text(
    _ row: Row, _ column: Int, _ value: KeyPath<Measurement, Double> & Sendable
  ) -> String? {
    row.cells[column].map { cell in
      let ratio = ratio(of: row, column: column, value)
      let ratioText = ratio.map { Self.padded("×" + Self.ratioText($0), to: 7) }
      return Self.text(cell[keyPath: value]) + (ratioText ?? "")
    }
  }

  /// Best and median, or what was counted.
  private static func text(_ cell: Measurement) -> String {
    cell.best == cell.median
      ? text(cell.best) : text(cell.best) + " (" + text(cell.median) + ")"
  }

  private func grid(_ text: (Row, Int) -> String?) -> [String] {
    let titleWidth = rows.map(\.title.count).max() ?? 0
    let cells = rows.map { row in columns.indices.map { text(row, $0) ?? "–" } }
    let widths = columns.indices.map { column in
      max(columns[column].count, cells.map { $0[column].count }.max() ?? 0)
    }
    func line(_ title: String, _ cells: [String]) -> String {
      "  " + title + String(repeating: " ", count: titleWidth - title.count)
        + zip(cells, widths).map { "   " + Self.padded($0, to: $1) }.joined()
    }
    return [line("", columns)] + zip(rows, cells).map { line($0.title, $1) }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// A number with about three digits that say something.
  static func text(_ value: Double) -> String {
    switch value {
    case ..<10: return String(format: "%.2f", value)
    case ..<100: return String(format: "%.1f", value)
    default: return Grouping.text(Int(value.rounded()))
    }
  }

  private static func ratioText(_ ratio: Double) -> String {
    ratio < 9.995 ? String(format: "%.2f", ratio) : text(ratio)
  }
}

/// Whole numbers, with a comma for every three digits.
enum Grouping {
  static func text(_ number: Int) -> String {
    var groups: [String] = []
    var rest = number.magnitude
    while rest >= 1000 {
      groups.append(String(format: "%03d", Int(rest % 1000)))
      rest /= 1000
    }
    groups.append(String(rest))
    return (number < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
  }
}
