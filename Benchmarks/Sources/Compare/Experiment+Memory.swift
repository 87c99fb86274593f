import Clients
import Systems

extension Experiment {
  /// What one registration takes, all of it: also what the runtime allocates for an object that is
  /// referred to weakly. The objects themselves were there before.
  func memory() -> Table? {
    let title = "Memory per registration"
    // One registration for a client that has no other, so batches are the same as single events.
    let contenders = (Contender.all + [.postAtHome]).filter { contender in
      !contender.title.contains("forEach") && !contender.title.contains("userInfo")
        && selection.wants(contender.title, of: title)
    }
    guard !contenders.isEmpty, Allocator.bytesInUse != nil else { return nil }
    let columns = effort.membershipCounts.map { count in
      progress.show("\(title): \(Grouping.text(count)) clients")
      return contenders.map { bytes(of: $0, clientCount: count) }
    }
    return Table(
      title: title, unit: "bytes, as the allocator counts them",
      columns: effort.membershipCounts.map { Grouping.text($0) + " clients" },
      rows: contenders.indices.map { row in
        Table.Row(title: contenders[row].title, cells: columns.map { $0[row] })
      })
  }

  /// The median of three: something that ended before may give back its memory meanwhile.
  private func bytes(of contender: Contender, clientCount: Int) -> Measurement? {
    let samples = (0..<3).compactMap { _ in sample(contender, clientCount: clientCount) }
    return samples.isEmpty ? nil : Measurement(exactly: Measurement(samples).median)
  }

  private func sample(_ contender: Contender, clientCount: Int) -> Double? {
    let clients = Clients.make(clientCount)
    guard let before = Allocator.bytesInUse else { return nil }
    let system = contender.make(clients)
    system.send(1)
    guard let after = Allocator.bytesInUse else { return nil }
    return withExtendedLifetime((clients, system)) {
      Double(after - before) / Double(clientCount)
    }
  }
}
