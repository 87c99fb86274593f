import Clients
import Multicast
import Synchronization
import Systems

extension Experiment {
  /// What a notify costs beyond its deliveries.
  func fixedCost() -> Table? {
    let title = "Fixed cost of a notify"
    let contenders = [
      Contender.multicast, Contender.multicastOpaque, Contender.delegate, Contender.topic,
      Contender.post, Contender.postAtHome,
    ].filter { selection.wants($0.title, of: title) }
    guard !contenders.isEmpty else { return nil }
    progress.show(title)
    let clientCounts = [0, 1, 101]
    let trials = contenders.flatMap { contender in
      clientCounts.map { Trial(contender, clientCount: $0) }
    }
    let contestants = trials.map { Contestant($0.contender.title, effort: effort, run: $0.send) }
    let lock = Contestant("A lock, for scale", effort: effort, run: Guarded().increment)
    let measurements = (contestants + [lock]).measure(rounds: 2 * effort.rounds)
    for trial in trials { trial.check() }
    let rows = contenders.indices.map { row in
      let cells = measurements[(row * clientCounts.count)...].prefix(clientCounts.count)
      return Self.row(contenders[row].title, Array(cells), lock: measurements.last)
    }
    return Table(
      title: title, unit: "nanoseconds: best (median)",
      columns: ["no client", "1 client", "each further", "fixed", "in locks"],
      rows: rows + [Table.Row(title: lock.title, cells: [measurements.last, nil, nil, nil, nil])],
      note: "Fixed: the time with 1 client, less that of a further one.")
  }

  private static func row(
    _ title: String, _ cells: [Measurement], lock: Measurement?
  ) -> Table.Row {
    let further = (cells[2].best - cells[1].best) / 100
    let fixed = cells[1].best - further
    return Table.Row(
      title: title,
      cells: [
        cells[0], cells[1], Measurement(exactly: further),
        Measurement(exactly: fixed), lock.map { Measurement(exactly: fixed / $0.best) },
      ])
  }
}

/// A number behind an uncontended lock.
private final class Guarded: Sendable {
  private let number = Mutex(0)

  func increment(times: Int) {
    for _ in 0..<times { increment() }
  }

  @inline(never)
  private func increment() {
    number.withLock { $0 &+= 1 }
  }
}
