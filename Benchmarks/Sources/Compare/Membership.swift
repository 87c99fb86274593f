import Foundation
import Multicast
import OtherSystems
import Systems

extension Lab {
  /// Shows whether one more client costs the same, however many there are.
  var membership: Table {
    ofLists(
      "Time per operation on the list", "nanoseconds: best (median)",
      rows: Registry.all.flatMap(\.operations),
      note: "Each operation once with every client, in random order, except to add."
    ) { count in
      let samplers = Registry.all.map { registry in
        {
          let clients = makeClients(count)
          let operations = registry.prepare(clients, clients.shuffled())
          return operations.map { stopwatch($0) / Double(count) }
        }
      }
      // The same number of operations for every size, but at least two rounds.
      return byTurns(samplers, rounds: max(2, rounds * 1_000 / count)).flatMap(\.self)
    }
  }
}

/// A system to which clients are added and from which they are removed.
private struct Registry: Sendable {
  /// The titles of the rows.
  let operations: [String]

  /// Creates a registry without clients. Returns its operations, each with all clients, in order or shuffled.
  let prepare: @Sendable (_ clients: [any Client], _ shuffled: [any Client]) -> [() -> Void]

  static let all = [
    Registry(
      operations: [
        "Multicast add", "Multicast add again", "Multicast contains", "Multicast remove",
      ]
    ) { clients, shuffled in
      let center = MulticastCenter()
      let listener = (any BoundListener).self
      return [
        { for client in clients { precondition(center.add(client, for: listener)) } },
        { for client in shuffled { precondition(!center.add(client, for: listener)) } },
        { for client in shuffled { precondition(center.contains(client, for: listener)) } },
        { for client in shuffled { precondition(center.remove(client, for: listener)) } },
      ]
    },
    Registry(operations: ["Multicast topic observe", "Multicast topic cancel"]) { clients, _ in
      let center = MulticastCenter()
      var tokens: [TopicObservation] = []
      return [
        { tokens = clients.map { $0.observe(.event, in: center) }.shuffled() },
        { for token in tokens { token.cancel() } },
      ]
    },
    Registry(
      operations: ["NotificationCenter addObserver", "NotificationCenter removeObserver"]
    ) { clients, _ in
      let center = NotificationCenter()
      var tokens: [any NSObjectProtocol] = []
      return [
        { tokens = clients.map { center.add($0) }.shuffled() },
        { for token in tokens { center.removeObserver(token) } },
      ]
    },
  ]
}
