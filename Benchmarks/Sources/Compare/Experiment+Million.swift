import Clients
import Systems

extension Experiment {
  /// Whether a list holds to a million clients.
  func million() -> Table? {
    let title = "Time per delivery to a million clients"
    let contenders = [
      Contender.strongLoop, Contender.weakLoop, Contender.multicast, Contender.multicastOpaque,
    ].filter { selection.wants($0.title, of: title) }
    guard !contenders.isEmpty else { return nil }
    let columns = [(1_000, false), (1_000_000, false), (1_000_000, true)].map { count, scattered in
      progress.show("\(title): \(Grouping.text(count))")
      return measure(contenders, clientCount: count, scattered: scattered)
    }
    return Table(
      title: title, unit: "nanoseconds: best (median)",
      columns: ["1,000", "1,000,000", "growth", "1,000,000 scattered", "growth"],
      rows: contenders.indices.map { row in
        let (few, many, scattered) = (columns[0][row], columns[1][row], columns[2][row])
        return Table.Row(
          title: contenders[row].title,
          cells: [
            few, many, Measurement(exactly: many.best / few.best), scattered,
            Measurement(exactly: scattered.best / few.best),
          ])
      },
      note: """
        Scattered: the clients stand in the list in another order than in memory, so that none of
        them is in a cache when its turn comes. What the strong loop loses by that, all lose.
        """)
  }

  private func measure(
    _ contenders: [Contender], clientCount: Int, scattered: Bool
  ) -> [Measurement] {
    let trials = contenders.map { Trial($0, clientCount: clientCount, scattered: scattered) }
    let contestants = trials.map { trial in
      Contestant(
        trial.contender.title, effort: effort, operations: clientCount, run: trial.send)
    }
    let measurements = contestants.measure(rounds: max(3, effort.rounds / 2))
    for trial in trials { trial.check() }
    return measurements
  }
}
