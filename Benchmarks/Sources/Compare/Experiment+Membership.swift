import Clients

extension Experiment {
  /// Whether one more client costs the same, however many there are.
  func membership() -> Table? {
    let title = "Time per operation on the list"
    let registries = Registry.all.filter { registry in
      registry.operations.contains { selection.wants($0, of: title) }
    }
    guard !registries.isEmpty else { return nil }
    let columns = effort.membershipCounts.map { count in
      progress.show("\(title): \(Grouping.text(count)) clients")
      return measure(registries, clientCount: count)
    }
    let rows = registries.enumerated().flatMap { index, registry in
      registry.operations.enumerated().map { operation, title in
        Table.Row(title: title, cells: columns.map { $0[index][operation] })
      }
    }
    return Table(
      title: title, unit: "nanoseconds: best (median)",
      columns: effort.membershipCounts.map { Grouping.text($0) + " clients" },
      rows: rows.filter { selection.wants($0.title, of: title) },
      note: "Each operation once with every client, in random order, except to add.")
  }

  /// For each registry, what each of its operations takes.
  private func measure(_ registries: [Registry], clientCount: Int) -> [[Measurement]] {
    // As many operations at every size, but twice at least.
    let rounds = max(2, effort.rounds * 1_000 / clientCount)
    var samples = registries.map { registry in
      [[Double]](repeating: [], count: registry.operations.count)
    }
    for _ in 0..<rounds {
      for (index, registry) in registries.enumerated() {
        for (operation, time) in sample(registry, clientCount).enumerated() {
          samples[index][operation].append(time)
        }
      }
    }
    return samples.map { $0.map { Measurement($0) } }
  }

  private func sample(_ registry: Registry, _ clientCount: Int) -> [Double] {
    let clients = Clients.make(clientCount)
    var generator = SeededGenerator(seed: 1)
    let operations = registry.prepare(clients, clients.shuffled(using: &generator))
    return operations.map { Stopwatch.measure($0) / Double(clientCount) }
  }
}
