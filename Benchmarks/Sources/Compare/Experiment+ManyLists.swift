import Multicast

extension Experiment {
  /// Whether the number of listener protocols in a center matters to a notify of one.
  func manyLists() -> Table? {
    let title = "Notify, with many listener protocols in one center"
    let row = "Multicast notify, 1 client each"
    guard selection.wants(row, of: title) else { return nil }
    let counts = [1, 100, 1_000, 10_000]
    progress.show(title)
    let contestants = counts.map { count in
      let center = MulticastCenter()
      let keys = NumberedKey.make(count, in: center)
      var generator = SeededGenerator(seed: 1)
      let shuffled = keys.shuffled(using: &generator)
      return Contestant(row, effort: effort) { events in
        var next = 0
        for event in 0..<events {
          shuffled[next].notify(event)
          next = next + 1 == shuffled.count ? 0 : next + 1
        }
      }
    }
    let measurements = contestants.measure(rounds: effort.rounds)
    return Table(
      title: title, unit: "nanoseconds: best (median)",
      columns: counts.map { Grouping.text($0) + ($0 == 1 ? " protocol" : " protocols") },
      rows: [Table.Row(title: row, cells: measurements)],
      note: """
        The protocols are notified by turns. They are made at run time, so none of this code is
        specialised for them, and each look-up, list and client comes from far away in memory.
        """)
  }
}
