import TestSupport
import Foundation
import Multicast
import MulticastFoundation
import Testing

/// Notifications come in as calls to clients.
@Suite struct RelayTests {
  let client = kept(Counter())
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
    center.relay(.power, from: source, to: PowerProtocol.self, map: { $0.level }) {
      $0.powerChanged($1)
    }
    source.postPower(1)
    #expect(journal.read() == "a1 b1")
    source.postPower(2)
    #expect(journal.read() == "a2 b2")
  }

  @Test func aNotificationFromAnotherThreadIsDeliveredThere() {
    let threads = Locked<[ObjectIdentifier]>([])
    center.add(client, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self) { _ in
      threads.withLock { $0.append(ObjectIdentifier(Thread.current)) }
    }
    onNewThread {
      let thread = ObjectIdentifier(Thread.current)
      source.postPower(1)
      #expect(threads.withLock { $0 } == [thread])
    }
  }

  @MainActor @Test(.timeLimit(.minutes(5)))
  func aNotificationFromAnotherThreadCallsEachClientAtHome() async {
    let (source, journal) = (source, journal)
    let client = Client("a", journal)
    client.onChange = { _ in MainActor.assertIsolated() }
    center.add(client, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self, map: { $0.level }) {
      $0.powerChanged($1)
    }
    onNewThread {
      for level in 1...3 { source.postPower(level) }
      #expect(journal.read() == "")
    }
    await center.postAndWait(PowerProtocol.self) { $0.powerChanged(4) }
    #expect(journal.read() == "a1 a2 a3 a4")
    extendLifetime(client)
  }

  @MainActor protocol ScreenProtocol {
    func show()
  }

  @MainActor final class Screen: ScreenProtocol {
    var calls = 0
    func show() { calls += 1 }
  }

  @MainActor @Test func aBodyMayNameTheMainActor() {
    let screen = Screen()
    defer { extendLifetime(screen) }
    center.add(screen, for: ScreenProtocol.self)
    center.relay(.power, from: source, to: ScreenProtocol.self) { @MainActor in $0.show() }
    source.postPower(1)
    #expect(screen.calls == 1)
  }

  @Test func theDefaultCentersAreBridgedByDefault() {
    let name = Notification.Name(UUID().uuidString)
    center.add(client, for: PowerProtocol.self)
    center.relay(name, to: PowerProtocol.self) { client in client.powerChanged(1) }
    NotificationCenter.default.post(name: name, object: nil)
    #expect(client.calls == 1)
  }

  @Test func otherNamesAndOtherCentersDoNotMatter() {
    center.add(client, for: PowerProtocol.self)
    center.relay(.power, from: source, to: PowerProtocol.self, map: { $0.level }) {
      $0.powerChanged($1)
    }
    source.postPower(1, as: .otherPower)
    NotificationCenter().postPower(1)
    #expect(client.calls == 0)
  }

  @Test func eachRelayOfANameDelivers() {
    center.add(client, for: PowerProtocol.self)
    for _ in 0..<2 {
      center.relay(.power, from: source, to: PowerProtocol.self) { client in
        client.powerChanged(1)
      }
    }
    source.postPower(1)
    #expect(client.calls == 2)
  }

  @Test func whereNobodyListensNothingHappens() {
    let relay = center.relay(.power, from: source, to: PowerProtocol.self) { client in
      client.powerChanged(1)
    }
    source.postPower(1)
    #expect(relay.isActive)
    #expect(relay.dropped == 0)
  }

  // MARK: Mapping

  @Test func aNotificationIsMappedOnceForAllClients() {
    let clients = kept([Client("a", journal), Client("b", journal)])
    for client in clients { center.add(client, for: PowerProtocol.self) }
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
    center.adding(Client("a", journal))
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
    center.adding(Client("a", journal))
    let (sender, other) = (Sender(), Sender())
    defer { extendLifetime(sender) }
    center.relay(.power, from: source, object: sender, to: PowerProtocol.self, map: { $0.level }) {
      $0.powerChanged($1)
    }
    source.postPower(1, object: sender)
    source.postPower(2, object: other)
    source.postPower(3)
    source.postPower(4, object: "a value")
    #expect(journal.read() == "a1")
  }

  @Test func withoutASenderAllNotificationsAreRelayed() {
    center.adding(Client("a", journal))
    center.relay(.power, from: source, to: PowerProtocol.self, map: { $0.level }) {
      $0.powerChanged($1)
    }
    source.postPower(1, object: Sender())
    source.postPower(2)
    source.postPower(3, object: "a value")
    #expect(journal.read() == "a1 a2 a3")
  }
}
