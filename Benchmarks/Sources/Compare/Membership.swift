import Foundation
import Multicast
import OtherSystems
import Systems

extension Lab {
  /// Whether one more client costs the same, however many there are.
  func membership() -> Table? {
    table(
      "Time per operation on the list", "nanoseconds: best (median)",
      columns: listSizes.map { grouped($0) + " clients" },
      rows: Registry.all.flatMap { registry in
        registry.operations.indices.map { (registry, operation: $0) }
      }, named: { $0.operations[$1] },
      note: "Each operation once with every client, in random order, except to add."
    ) { rows in
      let registries = Registry.all.filter { one in
        rows.contains { $0.0.operations == one.operations }
      }
      let titles = registries.flatMap(\.operations)
      return listSizes.map { count in
        let samplers = registries.map { registry in
          {
            let clients = makeClients(count)
            var generator = SeededGenerator()
            let operations = registry.prepare(clients, clients.shuffled(using: &generator))
            return operations.map { stopwatch($0) / Double(count) }
          }
        }
        // As many operations at every size, but twice at least.
        let measurements = byTurns(samplers, rounds: max(2, rounds * 1_000 / count))
        return rows.map { registry, operation in
          titles.firstIndex(of: registry.operations[operation]).map { measurements[$0] }
        }
      }
    }
  }
}

/// Something that clients are added to and removed from.
private struct Registry: Sendable {
  /// The rows' titles.
  let operations: [String]

  /// Makes a registry without clients, and returns the operations, each with all clients: in their order, or
  /// shuffled.
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
      return observing(
        clients, { $0.observe(.event, in: center) }, end: { $0.cancel() })
    },
    Registry(
      operations: ["NotificationCenter addObserver", "NotificationCenter removeObserver"]
    ) { clients, _ in
      let center = NotificationCenter()
      return observing(
        clients,
        { client in
          center.addObserver(forName: .event, object: nil, queue: nil) { [weak client] _ in
            client?.event(1)
          }
        }, end: { center.removeObserver($0) })
    },
  ]

  private static func observing<Token>(
    _ clients: [any Client], _ begin: @escaping (any Client) -> Token,
    end: @escaping (Token) -> Void
  ) -> [() -> Void] {
    var tokens: [Token] = []
    tokens.reserveCapacity(clients.count)
    var generator = SeededGenerator()
    return [
      {
        tokens = clients.map(begin)
        tokens.shuffle(using: &generator)
      },
      { for token in tokens { end(token) } },
    ]
  }
}
