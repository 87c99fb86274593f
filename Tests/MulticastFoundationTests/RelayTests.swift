import Foundation
import Multicast
import TestSupport
import Testing

@testable import MulticastFoundation

/// A relay delivers notifications as calls of clients, or as messages of a topic.
@Suite struct RelayTests {
  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()
  let owner = kept(Owner())

  /// Creates a relay to clients, and one to a topic.
  private func makeRelays() -> [NotificationRelay] {
    [
      center.relayLevels(from: source),
      center.relay(.power, from: source, to: .power) { $0.power },
    ]
  }

  @Test func aRelayMapsANotificationOnceAndCallsClientsInOrderOnThePostingThread() {
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
  func aNotificationFromAnotherThreadCallsEachClientInItsHome() async {
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

  @MainActor @Test func theBodyOfARelayCanBeIsolatedToTheMainActor() {
    let screen = Screen()
    center.add(screen, for: ScreenProtocol.self)
    // Without `from:`, a relay observes the default notification center.
    let name = Notification.Name(UUID().uuidString)
    center.relay(name, to: ScreenProtocol.self) { @MainActor in $0.show(1) }
    NotificationCenter.default.post(name: name, object: nil)
    #expect(screen.shown == [1])
    extendLifetime(screen)
  }

  @Test(arguments: [(true, "a1"), (false, "a1 a2 a3 a4")])
  func aRelayReceivesNotificationsOfItsNameAndSenderOnly(hasSender: Bool, calls: String) {
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

  @Test func aNotificationThatCannotBeMappedIsDroppedAndCounted() {
    let relays = makeRelays()
    // A notification without listeners is not mapped, and does not count as dropped.
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

  @Test func aPostOfARelayIsReportedWithTheRelaysCallSite() throws {
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

  @MainActor @Test func aRelayPostsToTheMainActorFromAnotherThread() {
    let (center, source) = (center, source)
    let screen = Screen()
    center.observe(.power, owner: screen) { screen, power in screen.show(power.level) }
    center.relay(.power, from: source, to: .power) { $0.power }
    onNewThread { for level in 0..<100 { source.postPower(level) } }
    // The main actor has not been free yet.
    #expect(screen.shown.isEmpty)
    // This post handles the waiting letters first.
    center.post(.power, Power(level: 100))
    #expect(screen.shown == Array(0...100))
  }

  @Test(.timeLimit(.minutes(5))) func aLoopOverMessagesReceivesNotifications() async {
    let messages = center.messages(of: .power)
    center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    source.postPower(2)
    #expect(await messages.levels(2) == [1, 2])
  }
}

/// When a relay ends, and which objects it retains until then.
@Suite struct RelayLifetimeTests {
  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()
  let client = kept(Counter())

  init() {
    center.add(client, for: PowerProtocol.self)
  }

  /// Adds a relay that writes "end" when its closure is released.
  @discardableResult
  private func relay(
    in center: MulticastCenter, object: AnyObject? = nil
  ) -> NotificationRelay {
    let sentinel = Sentinel(journal)
    return center.relay(.power, from: source, object: object, to: PowerProtocol.self) { client in
      client.powerChanged(1)
      extendLifetime(sentinel)
    }
  }

  // MARK: Cancelling

  @Test func cancelEndsTheRelayImmediately() {
    let trace = drained {
      // The relay works without its token.
      let trace = RelayTrace(relay(in: MulticastCenter.default))
      #expect(trace.isObserving)
      #expect(journal.read() == "")
      let relay = relay(in: center)
      #expect(relay.isActive)
      relay.cancel()
      #expect(!relay.isActive)
      #expect(journal.read() == "end")
      source.postPower(1)
      #expect(client.calls == 0)
      return RelayTrace(relay)
    }
    #expect(!trace.isObserving)
  }

  @Test func aRelayRemovesItsObserverOnlyOnce() {
    let (source, journal) = (source, journal)
    let token = Slot<NotificationRelay>()
    token.value = center.relay(.power, from: source, to: .power) { _ in
      token.value?.cancel()
      token.value?.cancel()
      // Foundation may reuse the identity of the relay's observer for this one, while the relay's call has not returned yet.
      _ = source.addObserver(forName: .power, object: nil, queue: nil) { _ in
        journal.write("observer")
      }
      return nil
    }
    source.postPower(1)
    token.value?.cancel()
    #expect(token.value?.isActive == false)
    #expect(journal.read() == "")
    source.postPower(2)
    #expect(journal.read() == "observer")
  }

  @Test func aRelayCancelledDuringANotificationCallsTheRemainingClients() {
    let other = center.adding(Counter())
    let token = Slot<NotificationRelay>()
    token.value = center.relay(.power, from: source, to: PowerProtocol.self) { client in
      token.value?.cancel()
      client.powerChanged(1)
    }
    source.postPower(1)
    #expect(client.calls == 1)
    #expect(other.calls == 1)
    #expect(token.value?.isActive == false)
    source.postPower(2)
    #expect(client.calls == 1)
  }

  @Test(arguments: 0..<16, [false, true])
  func anotherObserverCanCancelTheRelayDuringANotification(index: Int, isUnderWay: Bool) {
    let (source, journal) = (source, journal)
    let token = Slot<NotificationRelay>()
    // No call of the relay begins after it is cancelled, whether Foundation calls it before or after the observer that
    // cancels. With `isUnderWay`, the relay is cancelled during its own call, for the notification around this one.
    let observers = (0..<16).map { number in
      if number == index {
        token.value = center.relay(.power, from: source, to: .power) { notification in
          if isUnderWay, notification.level == 1 {
            source.postPower(2)
          } else {
            journal.write("relay")
          }
          return nil
        }
      }
      return source.addObserver(forName: .power, object: nil, queue: nil) { notification in
        guard notification.level == (isUnderWay ? 2 : 1) else { return }
        token.value?.cancel()
        journal.write("cancelled")
      }
    }
    source.postPower(1)
    let calls = journal.read().split(separator: " ")
    #expect(calls.count >= 16)
    #expect(calls.firstIndex(of: "relay") ?? 0 == 0)
    for observer in observers { source.removeObserver(observer) }
  }

  // MARK: The status

  @Test func aRelayStatusLetsOneCallerRemoveTheObserver() {
    let status = RelayStatus()
    #expect(status.begin())
    #expect(status.isActive)
    #expect(status.end())
    #expect(!status.isActive)
    #expect(!status.end())
    // The observer does not exist yet. The caller of `begin` removes it.
    let ended = RelayStatus()
    #expect(!ended.end())
    #expect(!ended.isActive)
    #expect(!ended.begin())
    #expect(!ended.isActive)
  }

  // MARK: The center

  @Test func aRelayEndsWithItsCenterAndRetainsNeitherTheCenterNorItsClients() {
    weak var weakClient: Counter?
    let trace = drained {
      var center = Optional(MulticastCenter())
      let relay = relay(in: center!)
      do {
        let client = Counter()
        weakClient = client
        center?.add(client, for: PowerProtocol.self)
        source.postPower(1)
        #expect(client.calls == 1)
      }
      #expect(weakClient == nil)
      center?.removeAll()
      #expect(relay.isActive)
      center = nil
      #expect(!relay.isActive)
      #expect(journal.read() == "end")
      relay.cancel()
      return RelayTrace(relay)
    }
    #expect(!trace.isObserving)
  }

  @Test func aClientCanReleaseTheCenterDuringADelivery() {
    let trace = drained {
      let (first, second) = (Client("a", journal), Client("b", journal))
      defer { extendLifetime((first, second)) }
      var center = Optional(MulticastCenter())
      center?.add(first, for: PowerProtocol.self)
      center?.add(second, for: PowerProtocol.self)
      first.onChange = { _ in center = nil }
      let trace = RelayTrace(relay(in: center!))
      source.postPower(1)
      // The delivery retains the center until it returns.
      #expect(journal.read() == "a1 b1 end")
      return trace
    }
    #expect(!trace.isObserving)
  }

  @Test func anObjectReleasedWithARelayCanUseBothCenters() {
    let (center, source, journal) = (center, source, journal)
    func makeRelay() -> NotificationRelay {
      let sentinel = Sentinel {
        // If a lock were held here, this would be a deadlock.
        let observer = source.addObserver(forName: .otherPower, object: nil, queue: nil) { _ in
          journal.write("got")
        }
        source.postPower(1, as: .otherPower)
        // The relay has been cancelled, so it does not receive this notification.
        source.postPower(1)
        source.removeObserver(observer)
        center.relay(.otherPower, from: source, to: .power) { $0.power }.cancel()
      }
      return center.relay(.power, from: source, to: PowerProtocol.self) { client in
        client.powerChanged(1)
        extendLifetime(sentinel)
      }
    }
    makeRelay().cancel()
    #expect(journal.read() == "got")
    #expect(client.calls == 0)
  }

  // MARK: The sender

  @Test func aRelayEndsWithItsSender() {
    let trace = drained {
      var sender = Optional(Sender())
      weak var weakSender: Sender?
      weakSender = sender
      let relay = relay(in: center, object: sender)
      drained { source.postPower(1, object: sender) }
      #expect(client.calls == 1)
      sender = nil
      #expect(weakSender == nil)
      #expect(!relay.isActive)
      // The next notification of the name, from any sender, releases the relay's closure.
      source.postPower(2)
      #expect(journal.read() == "end")
      // Another sender may be allocated at the same address.
      for _ in 0..<1000 { source.postPower(1, object: Sender()) }
      #expect(client.calls == 1)
      return RelayTrace(relay)
    }
    #expect(!trace.isObserving)
  }
}
