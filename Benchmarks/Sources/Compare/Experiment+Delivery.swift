import Clients
import Systems

extension Experiment {
  static let deliveryTitle = "Time per delivery"

  private static let clientCounts = [0, 1, 8, 100, 1_000, 10_000]

  /// The comparison: every system, at every number of clients.
  func delivery() -> Table? {
    let contenders = Contender.all.filter { selection.wants($0.title, of: Self.deliveryTitle) }
    guard !contenders.isEmpty else { return nil }
    let measured = Contender.all.filter { contender in
      contender.title == Contender.multicast.title
        || contenders.contains { $0.title == contender.title }
    }
    let columns = Self.clientCounts.map { count in
      progress.show("Time per delivery: \(Grouping.text(count)) clients")
      return measure(measured, clientCount: count)
    }
    return Table(
      title: Self.deliveryTitle, unit: "nanoseconds, and × Multicast's",
      columns: Self.clientCounts.map { Grouping.text($0) },
      rows: measured.indices.map { row in
        Table.Row(title: measured[row].title, cells: columns.map { $0[row] })
      },
      baseline: Contender.multicast.title,
      note: "With 0 clients: time per event, which reaches nobody.")
  }

  private func measure(_ contenders: [Contender], clientCount: Int) -> [Measurement] {
    // Each system has clients of its own: those of a strong loop have no weak references, which make
    // every retain and release of an object dearer.
    let trials = contenders.map { Trial($0, clientCount: clientCount) }
    let contestants = trials.map { trial in
      Contestant(
        trial.contender.title, effort: effort, step: trial.contender.step(clientCount),
        operations: max(1, clientCount), run: trial.send)
    }
    let measurements = contestants.measure(rounds: effort.rounds)
    for trial in trials { trial.check() }
    return measurements
  }
}
