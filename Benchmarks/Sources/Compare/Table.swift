/// A table of measurements.
struct Table: Codable, Sendable {
  struct Row: Codable, Sendable {
    let title: String

    /// One for each column; nil where nothing was measured.
    var cells: [Measurement?]
  }

  let title: String

  /// What the numbers are.
  let unit: String

  let columns: [String]

  var rows: [Row]

  /// The row that the others are compared with.
  var baseline: String?

  /// What a reader has to know.
  var note: String?
}

extension Table {
  /// The ratio of a row's best to the baseline's, in a column.
  func ratio(
    of row: Row, column: Int, _ value: KeyPath<Measurement, Double> & Sendable
  ) -> Double? {
    guard let base = rows.first(where: { $0.title == baseline })?.cells[column],
      let cell = row.cells[column], base[keyPath: value] > 0
    else { return nil }
    return cell[keyPath: value] / base[keyPath: value]
  }
}
