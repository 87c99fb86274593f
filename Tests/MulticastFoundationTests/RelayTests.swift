import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// Notifications come in as calls to clients, and as messages.
@Suite struct RelayTests {
  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()
  let owner = kept(Owner())

  /// A relay to clients, and one to a topic.
  private func makeRelays() -> [NotificationRelay] {
    [
      center.relayLevels(from: source),
      center.relay(.power, from: source, to: .power) { $0.power },
    ]
  }

  @Test func clientsAreCalledInOrderOnThePostingThreadAndShareAMapping() {
    let (source, journal) = (source, journal)
    let threads = Locked<Set<ObjectIdentifier>>([])
    for name in ["a", "b"] {
      center.adding(Client(name, journal)).onChange = { _ in
        threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
      }
    }
    center.relay(
      .power, from: source, to: PowerProtocol.self,
      map: { notification in
        journal.write("map")
        return notification.level
      }
    ) { $0.powerChanged($1) }
    onNewThread {
      for level in 1...2 { source.postPower(level) }
      #expect(threads.withLock { $0 } == [ObjectIdentifier(Thread.current)])
    }
    #expect(journal.read() == "map a1 b1 map a2 b2")
  }

  @MainActor @Test(.timeLimit(.minutes(5)))
  func aNotificationFromAnotherThreadCallsEachClientAtHome() async {
    let (source, journal) = (source, journal)
    let client = Client("a", journal)
    client.onChange = { _ in MainActor.assertIsolated() }
    center.add(client, for: PowerProtocol.self)
    center.relayLevels(from: source)
    onNewThread {
      for level in 1...3 { source.postPower(level) }
      #expect(journal.read() == "")
    }
    await center.post(PowerProtocol.self) { $0.powerChanged(4) }.delivered()
    #expect(journal.read() == "a1 a2 a3 a4")
    extendLifetime(client)
  }

  @MainActor @Test func aBodyMayNameTheMainActor() {
    let screen = Screen()
    center.add(screen, for: ScreenProtocol.self)
    // The default center is the source by default.
    let name = Notification.Name(UUID().uuidString)
    center.relay(name, to: ScreenProtocol.self) { @MainActor in $0.show(1) }
    NotificationCenter.default.post(name: name, object: nil)
    #expect(screen.shown == [1])
    extendLifetime(screen)
  }

  @Test(arguments: [(true, "a1"), (false, "a1 a2 a3 a4")])
  func onlyTheNameAndTheSenderAreRelayed(hasSender: Bool, calls: String) {
    center.adding(Client("a", journal))
    let sender = kept(Sender())
    center.relayLevels(from: source, object: hasSender ? sender : nil)
    source.postPower(1, object: sender)
    source.postPower(2, object: Sender())
    source.postPower(3)
    source.postPower(4, object: "a value")
    source.postPower(5, as: .otherPower)
    NotificationCenter().postPower(6)
    #expect(journal.read() == calls)
  }

  @Test func whatCannotBeMappedIsDroppedAndCounted() {
    let relays = makeRelays()
    // What nobody listens to is not dropped.
    source.postPower(1)
    #expect(relays.allSatisfy { $0.isActive && $0.dropped == 0 })
    center.adding(Client("a", journal))
    center.observe(.power, owner: owner) { _, power in journal.write("\(power.level)") }
    source.post(name: .power, object: nil)
    source.post(name: .power, object: nil, userInfo: ["level": "high"])
    #expect(relays.map(\.dropped) == [2, 2])
    source.postPower(1)
    #expect(relays.map(\.dropped) == [2, 2])
    #expect(journal.read().split(separator: " ").sorted() == ["1", "a1"])
    for relay in relays { relay.cancel() }
    source.post(name: .power, object: nil)
    #expect(relays.map(\.dropped) == [2, 2])
  }

  // MARK: To topics

  @Test func whatARelayPostsIsToldWithTheRelayAsItsCallSite() throws {
    let events = Locked<[DeliveryEvent]>([])
    let center = MulticastCenter(onDelivery: { event in events.withLock { $0.append(event) } })
    center.observe(.power, owner: owner) { _, _ in }
    let line = #line + 1
    center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    let told = events.withLock { $0 }
    #expect(told.count == 3)
    #expect(told.allSatisfy { $0.way == .post && $0.site.line == line })
    extendLifetime((center, owner))
  }

  @MainActor @Test func theMainActorIsReachedFromElsewhere() {
    let (center, source) = (center, source)
    let screen = Screen()
    center.observe(.power, owner: screen) { screen, power in screen.show(power.level) }
    center.relay(.power, from: source, to: .power) { $0.power }
    onNewThread { for level in 0..<100 { source.postPower(level) } }
    // This turn has not ended yet.
    #expect(screen.shown.isEmpty)
    // It is handled in this turn, behind those before it.
    center.post(.power, Power(level: 100))
    #expect(screen.shown == Array(0...100))
  }

  @Test(.timeLimit(.minutes(5))) func aLoopOverMessagesTakesNotifications() async {
    let messages = center.messages(of: .power)
    center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    source.postPower(2)
    #expect(await messages.levels(2) == [1, 2])
  }
}
