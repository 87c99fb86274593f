/// What every table is made with.
struct Experiment: Sendable {
  let effort: Effort
  let selection: Selection
  let progress = Progress()
}

/// The tables and rows that were asked for.
struct Selection: Sendable {
  let filter: String?

  /// Whether a row is wanted: its own title says so, or that of its table.
  func wants(_ row: String, of table: String) -> Bool {
    guard let filter = filter?.lowercased() else { return true }
    return table.lowercased().contains(filter) || row.lowercased().contains(filter)
  }
}
