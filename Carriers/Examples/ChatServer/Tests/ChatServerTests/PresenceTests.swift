import Foundation
import Logging
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import NIOCore
import Synchronization
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(60))) struct PresenceTests {
  /// Ten thousand people join within fifty beats, at three servers: what all of them are told, and what the
  /// servers tell each other.
  @Test func tenThousandPeopleMayJoin() async throws {
    let sent = Mutex(0)
    let hub = InMemoryCarrier.Hub()
    let counter = Counting(hub: hub, sent: { bytes in sent.withLock { $0 += bytes } })
    counter.open()
    var chats: [Chat] = []
    var tasks: [Task<Void, Never>] = []
    for name in ["north", "east", "south"] {
      let center = MulticastCenter(carrying: .carriage)
      let carriage = Carriage(
        center: center, carrier: InMemoryCarrier(hub: hub), name: name, prefix: "chat",
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      chats.append(Chat(name: name, rooms: ["lobby"], center: center, carriage: carriage))
      tasks.append(Task { await carriage.run() })
    }
    for chat in chats {
      try await eventually("the servers know each other") { chat.carriage.condition.lag.count == 2 }
    }
    var connections: [Connection] = []
    for beat in 0..<50 {
      for number in 0..<200 {
        let id = beat * 200 + number
        let member = Member(room: "lobby", name: "person \(id)", client: "client of \(id)")
        connections.append(try await chats[id % 3].join(member, after: nil))
      }
      for chat in chats { await chat.beat() }
      try await Task.sleep(for: .milliseconds(20))
    }
    try await eventually("all are known everywhere") {
      for chat in chats {
        await chat.beat()
        guard await chat.people == 10_000 else { return false }
      }
      return true
    }
    var told = 0
    for connection in connections {
      connection.end()
      for await event in connection.events { told += event.text.utf8.count }
    }
    let between = sent.withLock { $0 }
    print(
      "MEASURED 10,000 people join in 10 s: \((told + 2 * between) / 1_000_000) MB; goal 200 MB")
    #expect(told > 1_000_000 && between > 500_000)
    #expect(told + 2 * between < 200_000_000)
    for task in tasks { task.cancel() }
  }

  /// Hears everything that is published.
  private final class Counting: Sendable {
    private let carrier: InMemoryCarrier
    private let sent: @Sendable (Int) -> Void
    init(hub: InMemoryCarrier.Hub, sent: @escaping @Sendable (Int) -> Void) {
      carrier = InMemoryCarrier(hub: hub)
      self.sent = sent
    }
    func open() {
      for subject in ["control", "topic.presence", "topic.said"] {
        carrier.subscribe(to: "chat.\(subject)")
      }
      carrier.open { [sent] event in
        if case .payload(let payload) = event { sent(payload.readableBytes) }
      }
    }
  }
}

extension Chat {
  fileprivate var people: Int { peopleHere(in: "lobby") }
}
