import TestSupport
import Foundation
import Multicast
import MulticastFoundation
import Testing

/// When a relay ends, and what it keeps until then.
@Suite struct RelayLifeTests {
  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()
  let client = kept(Counter())

  init() {
    center.add(client, for: PowerProtocol.self)
  }

  /// A relay that writes down the end of its closure.
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

  @Test func theTokenMayBeIgnored() {
    let trace = RelayTrace(relay(in: center))
    source.postPower(1)
    #expect(client.calls == 1)
    #expect(trace.isObserving)
    #expect(journal.read() == "")
  }

  @Test func cancelEndsTheRelayAtOnce() {
    let trace = drained {
      var relay = Optional(relay(in: center))
      let trace = RelayTrace(relay!)
      #expect(relay?.isActive == true)
      relay?.cancel()
      #expect(relay?.isActive == false)
      #expect(journal.read() == "end")
      source.postPower(1)
      #expect(client.calls == 0)
      relay = nil
      return trace
    }
    #expect(!trace.isObserving)
  }

  @Test func endingIsLeavingOnce() {
    let (source, journal) = (source, journal)
    let token = Slot<NotificationRelay>()
    token.value = center.relay(.power, from: source, to: .power) { _ in
      token.value?.cancel()
      token.value?.cancel()
      // Foundation may know this one by what it knew the relay by. The relay's own end is yet to come.
      _ = source.addObserver(forName: .power, object: nil, queue: nil) { _ in
        journal.write("observer")
      }
      return nil
    }
    source.postPower(1)
    token.value?.cancel()
    #expect(journal.read() == "")
    source.postPower(2)
    #expect(journal.read() == "observer")
  }

  @Test func aCopyOfTheTokenCancelsOnAnotherThread() {
    let relay = relay(in: center)
    onNewThread { relay.cancel() }
    #expect(!relay.isActive)
    source.postPower(1)
    #expect(client.calls == 0)
  }

  @Test func aNotificationUnderWayReachesTheRestOfItsClients() {
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

  @Test func mappingMayCancel() {
    let token = Slot<NotificationRelay>()
    token.value = center.relay(.power, from: source, to: .power) { notification in
      token.value?.cancel()
      return notification.power
    }
    source.postPower(1)
    source.post(name: .power, object: nil)
    #expect(token.value?.dropped == 0)
    #expect(token.value?.isActive == false)
  }

  @Test func anotherObserverMayCancelDuringANotification() {
    let token = Slot<NotificationRelay>()
    // Whether Foundation calls the relay before or after one that cancels, no call begins after that.
    let observers = (0..<16).map { number in
      if number == 8 {
        token.value = center.relay(.power, from: source, to: .power) { _ in
          journal.write("relay")
          return nil
        }
      }
      return source.addObserver(forName: .power, object: nil, queue: nil) { _ in
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

  @Test(arguments: 0..<16)
  func anotherObserverMayCancelWhatIsUnderWay(place: Int) {
    let (source, journal) = (source, journal)
    let token = Slot<NotificationRelay>()
    // As above, but the relay is held meanwhile: it is at work on the notification around this one.
    let observers = (0..<16).map { number in
      if number == place {
        token.value = center.relay(.power, from: source, to: .power) { notification in
          if notification.level == 1 { source.postPower(2) } else { journal.write("relay") }
          return nil
        }
      }
      return source.addObserver(forName: .power, object: nil, queue: nil) { notification in
        guard notification.level == 2 else { return }
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

  // MARK: The center

  @Test func aRelayEndsWithItsCenter() {
    let trace = drained {
      var center = Optional(MulticastCenter())
      var relay = Optional(relay(in: center!))
      let trace = RelayTrace(relay!)
      #expect(relay?.isActive == true)
      center = nil
      #expect(relay?.isActive == false)
      #expect(journal.read() == "end")
      relay?.cancel()
      relay = nil
      return trace
    }
    #expect(!trace.isObserving)
  }

  @Test func aRelayKeepsNeitherItsCenterNorItsClients() {
    weak var weakCenter: MulticastCenter?
    weak var weakClient: Counter?
    do {
      let center = MulticastCenter()
      let client = Counter()
      weakCenter = center
      weakClient = client
      center.add(client, for: PowerProtocol.self)
      relay(in: center)
      source.postPower(1)
      #expect(client.calls == 1)
    }
    #expect(weakCenter == nil)
    #expect(weakClient == nil)
  }

  @Test func removingAllClientsLeavesRelays() {
    relay(in: center)
    center.removeAll()
    center.add(client, for: PowerProtocol.self)
    source.postPower(1)
    #expect(client.calls == 1)
  }

  @Test func aClientMayReleaseTheCenterDuringADelivery() {
    let trace = drained {
      let (first, second) = (Client("a", journal), Client("b", journal))
      defer { extendLifetime((first, second)) }
      var center = Optional(MulticastCenter())
      center?.add(first, for: PowerProtocol.self)
      center?.add(second, for: PowerProtocol.self)
      first.onChange = { _ in center = nil }
      let trace = RelayTrace(relay(in: center!))
      source.postPower(1)
      // The delivery keeps the center to its end.
      #expect(journal.read() == "a1 b1 end")
      return trace
    }
    #expect(!trace.isObserving)
  }

  @Test func anEndThatPostsReachesNobody() {
    do {
      let center = MulticastCenter()
      center.add(client, for: PowerProtocol.self)
      for _ in 0..<3 {
        let sentinel = Sentinel {
          source.postPower(1)
          journal.write("end")
        }
        center.relay(.power, from: source, to: PowerProtocol.self) { client in
          client.powerChanged(1)
          extendLifetime(sentinel)
        }
      }
    }
    #expect(journal.read() == "end end end")
    #expect(client.calls == 0)
  }

  @Test func whatARelayCapturesMayUseBothCentersAtItsEnd() {
    let (center, source, journal) = (center, source, journal)
    func makeRelay() -> NotificationRelay {
      let sentinel = Sentinel {
        // A lock that is held here would be waited for in vain.
        let observer = source.addObserver(forName: .otherPower, object: nil, queue: nil) { _ in
          journal.write("got")
        }
        source.postPower(1, as: .otherPower)
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
  }

  // MARK: The sender

  @Test func aRelayEndsWithItsSender() {
    let trace = drained {
      var sender = Optional(Sender())
      weak var weakSender: Sender?
      weakSender = sender
      var relay = Optional(relay(in: center, object: sender))
      let trace = RelayTrace(relay!)
      drained { source.postPower(1, object: sender) }
      #expect(client.calls == 1)
      sender = nil
      #expect(weakSender == nil)
      #expect(relay?.isActive == false)
      // What it holds goes with the next notification of the name, whoever posts it.
      source.postPower(2)
      #expect(journal.read() == "end")
      #expect(client.calls == 1)
      relay = nil
      return trace
    }
    #expect(!trace.isObserving)
  }

  @Test func anotherObjectOnADeadSendersAddressIsNotTheSender() {
    for _ in 0..<1000 {
      do {
        let sender = Sender()
        defer { extendLifetime(sender) }
        relay(in: center, object: sender)
      }
      source.postPower(1, object: Sender())
    }
    #expect(client.calls == 0)
  }
}
