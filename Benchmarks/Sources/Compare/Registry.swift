import Clients
import Foundation
import Multicast
import Systems

/// Something that clients are added to and removed from.
struct Registry: Sendable {
  /// The rows' titles.
  let operations: [String]

  /// Makes a registry without clients, and returns what carries the operations out, each with all
  /// clients: in their order, or shuffled.
  let prepare: @Sendable (_ clients: [any Client], _ shuffled: [any Client]) -> [() -> Void]
}

extension Registry {
  static let all = [multicast, topic, notificationCenter]

  private static let multicast = Registry(
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
  }

  private static let topic = Registry(
    operations: ["Multicast topic observe", "Multicast topic cancel"]
  ) { clients, _ in
    let center = MulticastCenter()
    var observations: [TopicObservation] = []
    observations.reserveCapacity(clients.count)
    var generator = SeededGenerator(seed: 1)
    return [
      {
        observations = clients.map { $0.observe(.event, in: center) }
        observations.shuffle(using: &generator)
      },
      { for observation in observations { observation.cancel() } },
    ]
  }

  private static let notificationCenter = Registry(
    operations: ["NotificationCenter addObserver", "NotificationCenter removeObserver"]
  ) { clients, _ in
    let center = NotificationCenter()
    var tokens: [any NSObjectProtocol] = []
    tokens.reserveCapacity(clients.count)
    var generator = SeededGenerator(seed: 1)
    return [
      {
        tokens = clients.map { client in
          center.addObserver(forName: .event, object: nil, queue: nil) { [weak client] _ in
            client?.event(1)
          }
        }
        tokens.shuffle(using: &generator)
      },
      { for token in tokens { center.removeObserver(token) } },
    ]
  }
}
