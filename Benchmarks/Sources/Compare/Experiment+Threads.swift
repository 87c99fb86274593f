import Clients
import Foundation
import Multicast
import Systems

extension Experiment {
  /// Whether two threads that notify get in each other's way.
  func threads() -> Table? {
    let title = "Two threads that notify at the same time, 100 clients"
    let rows = Duel.all.filter { selection.wants($0.title, of: title) }
    guard !rows.isEmpty else { return nil }
    progress.show(title)
    // Threads must be long at work compared with what it takes to start them.
    let deliveries = Int(effort.sampleTime / 10)
    let events = max(1, deliveries / Duel.clientCount)
    let contestants = rows.flatMap { duel in
      duel.prepare().map { sample in
        Contestant(title: duel.title) { sample(events) / Double(events * Duel.clientCount) }
      }
    }
    let measurements = contestants.measure(rounds: effort.rounds)
    return Table(
      title: title, unit: "nanoseconds per delivery of a thread: best (median)",
      columns: ["alone", "two, same key", "two, other key"],
      rows: rows.indices.map { row in
        Table.Row(title: rows[row].title, cells: measurements[(3 * row)...].prefix(3).map { $0 })
      },
      note: """
        Alone: one thread. Same key: both notify the same clients, whose reference counts and
        fields they share. Other key: each has clients of its own, in the same center.
        """)
  }
}

/// Two threads and a center.
private struct Duel: Sendable {
  static let clientCount = 100

  let title: String

  /// Registers the clients, and returns three ways to send events to them, each of which returns
  /// the nanoseconds it took: alone, both threads with the same key, each with its own.
  let prepare: @Sendable () -> [(_ events: Int) -> Double]
}

extension Duel {
  static let all = [multicast, topic, notificationCenter]

  private static func ways(
    _ one: @escaping @Sendable (Int) -> Void, _ other: @escaping @Sendable (Int) -> Void
  ) -> [(Int) -> Double] {
    [
      { events in Pair.run({ one(events) }, {}) },
      { events in Pair.run({ one(events) }, { one(events) }) },
      { events in Pair.run({ one(events) }, { other(events) }) },
    ]
  }

  private static let multicast = Duel(title: "Multicast notify") {
    let (clients, others) = (Clients.make(clientCount), Clients.make(clientCount))
    let center = MulticastCenter()
    for client in clients { center.add(client, for: (any BoundListener).self) }
    for other in others { center.add(other, for: (any OtherListener).self) }
    return ways(
      { events in
        for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
        extendLifetime(clients)
      },
      { events in
        for event in 0..<events {
          center.notify((any OtherListener).self) { $0.otherEvent(event) }
        }
        extendLifetime(others)
      })
  }

  private static let topic = Duel(title: "Multicast topic post") {
    let (clients, others) = (Clients.make(clientCount), Clients.make(clientCount))
    let center = MulticastCenter()
    let otherTopic = Topic<Int>("other")
    for client in clients { client.observe(.event, in: center) }
    for other in others { other.observe(otherTopic, in: center) }
    return ways(
      { events in
        for event in 0..<events { center.post(.event, event) }
        extendLifetime(clients)
      },
      { events in
        for event in 0..<events { center.post(otherTopic, event) }
        extendLifetime(others)
      })
  }

  private static let notificationCenter = Duel(title: "NotificationCenter") {
    let (clients, others) = (Clients.make(clientCount), Clients.make(clientCount))
    let center = NotificationCenter()
    let otherName = Notification.Name("other")
    for client in clients {
      _ = center.addObserver(forName: .event, object: nil, queue: nil) { [weak client] _ in
        client?.event(1)
      }
    }
    for other in others {
      _ = center.addObserver(forName: otherName, object: nil, queue: nil) { [weak other] _ in
        other?.otherEvent(1)
      }
    }
    return ways(
      { events in
        for _ in 0..<events { center.post(name: .event, object: nil) }
        extendLifetime(clients)
      },
      { events in
        for _ in 0..<events { center.post(name: otherName, object: nil) }
        extendLifetime(others)
      })
  }
}
