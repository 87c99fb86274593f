import TestSupport
import Foundation
import Multicast
import MulticastFoundation
import Testing

/// Notifications come in as calls to clients.
@Suite struct RelayTests {
  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()

  @Test func clientsAreCalledInOrderOnThePostingThread() {
    let (first, second) = (Client("a", journal), Client("b", journal))
    defer { extendLifetime((first, second)) }
    let thread = ObjectIdentifier(Thread.current)
    first.onChange = { _ in #expect(ObjectIdentifier(Thread.current) == thread) }
    center.add(first, for: PowerProtocol.self)
    center.add(second, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self) { client, notification in
      client.powerChanged(notification.level ?? -1)
    }
    source.postPower(1)
    #expect(journal.read() == "a1 b1")
    source.postPower(2)
    #expect(journal.read() == "a2 b2")
  }

  @Test func aNotificationFromAnotherThreadIsDeliveredThere() {
    let source = source
    let threads = Locked<[ObjectIdentifier]>([])
    let client = Counter()
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self) { _, _ in
      threads.withLock { $0.append(ObjectIdentifier(Thread.current)) }
    }
    onNewThread {
      let thread = ObjectIdentifier(Thread.current)
      source.postPower(1)
      #expect(threads.withLock { $0 } == [thread])
    }
  }

  @Test func theDefaultCentersAreBridgedByDefault() {
    let name = Notification.Name(UUID().uuidString)
    let client = Counter()
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    center.relay(name, to: PowerProtocol.self) { client, _ in client.powerChanged(1) }
    NotificationCenter.default.post(name: name, object: nil)
    #expect(client.calls == 1)
  }

  @Test func otherNamesAndOtherCentersDoNotMatter() {
    let client = Counter()
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self) { $0.powerChanged($1.level ?? -1) }
    source.postPower(1, as: .otherPower)
    NotificationCenter().postPower(1)
    #expect(client.calls == 0)
  }

  @Test func eachRelayOfANameDelivers() {
    let client = Counter()
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    for _ in 0..<2 {
      center.relay(.power, from: source, to: PowerProtocol.self) { client, _ in
        client.powerChanged(1)
      }
    }
    source.postPower(1)
    #expect(client.calls == 2)
  }

  @Test func whereNobodyListensNothingHappens() {
    let relay = center.relay(.power, from: source, to: PowerProtocol.self) { client, _ in
      client.powerChanged(1)
    }
    source.postPower(1)
    #expect(relay.isActive)
    #expect(relay.dropped == 0)
  }

  // MARK: Mapping

  @Test func aNotificationIsMappedOnceForAllClients() {
    let clients = [Client("a", journal), Client("b", journal)]
    defer { extendLifetime(clients) }
    for client in clients { center.add(client, for: PowerProtocol.self) }
    let journal = journal
    center.relay(
      .power, from: source, to: PowerProtocol.self,
      map: { notification in
        journal.write("map")
        return notification.level
      }
    ) { client, level in client.powerChanged(level) }
    source.postPower(1)
    #expect(journal.read() == "map a1 b1")
  }

  @Test func whatCannotBeMappedIsDroppedAndCounted() {
    let client = Client("a", journal)
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    let relay = center.relay(.power, from: source, to: PowerProtocol.self, map: { $0.level }) {
      client, level in client.powerChanged(level)
    }
    source.post(name: .power, object: nil)
    source.post(name: .power, object: nil, userInfo: ["level": "high"])
    #expect(relay.dropped == 2)
    source.postPower(1)
    #expect(relay.dropped == 2)
    #expect(journal.read() == "a1")
    relay.cancel()
    source.post(name: .power, object: nil)
    #expect(relay.dropped == 2)
  }

  // MARK: Senders

  @Test func onlyTheSendersNotificationsAreRelayed() {
    let client = Client("a", journal)
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    let (sender, other) = (Sender(), Sender())
    defer { extendLifetime(sender) }
    center.relay(.power, from: source, object: sender, to: PowerProtocol.self) {
      $0.powerChanged($1.level ?? -1)
    }
    source.postPower(1, object: sender)
    source.postPower(2, object: other)
    source.postPower(3)
    source.postPower(4, object: "a value")
    #expect(journal.read() == "a1")
  }

  @Test func withoutASenderAllNotificationsAreRelayed() {
    let client = Client("a", journal)
    defer { extendLifetime(client) }
    center.add(client, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self) {
      $0.powerChanged($1.level ?? -1)
    }
    source.postPower(1, object: Sender())
    source.postPower(2)
    source.postPower(3, object: "a value")
    #expect(journal.read() == "a1 a2 a3")
  }
}
