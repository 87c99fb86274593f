import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// Both directions, from several threads at once.
@Suite struct BridgeThreadTests {
  let center = MulticastCenter()
  let source = NotificationCenter()
  let client = kept(Counter())

  init() {
    center.add(client, for: PowerProtocol.self)
  }

  @Test func nothingIsLostThatIsPostedOnManyThreads() {
    let relay = center.relayLevels(from: source)
    let (target, left) = (NotificationCenter(), kept(Counter()))
    let observer = target.addObserver(forName: .power, object: nil, queue: nil) {
      left.powerChanged($0.level ?? -1)
    }
    center.forward(.power, to: target, as: .power) { ["level": $0.level] }
    onThreads(8) { _ in
      for level in 0..<500 {
        source.postPower(level)
        source.post(name: .power, object: nil)
        center.post(.power, Power(level: level))
      }
    }
    #expect(client.calls == 8 * 500)
    #expect(relay.dropped == 8 * 500)
    #expect(left.calls == 8 * 500)
    target.removeObserver(observer)
  }

  @Test func relaysComeAndGoWhileNotificationsArePosted() {
    onThreads(8) { number in
      for level in 0..<200 {
        if number % 2 == 0 {
          source.postPower(level)
        } else {
          let relay = center.relay(.power, from: source, to: PowerProtocol.self) {
            $0.powerChanged(1)
          }
          source.postPower(level)
          relay.cancel()
        }
      }
    }
    // Every relay was there when its own thread posted, and none is left.
    let calls = client.calls
    #expect(calls >= 4 * 200)
    source.postPower(1)
    #expect(client.calls == calls)
  }

  private static let isDone = Atomic<Bool>(false)

  @Test func aRelayMayBeCalledBeforeItIsMade() {
    // The flag orders nothing. Only the relay can show the thread sanitizer that its parts are made
    // before it is called, since Foundation's lock is out of its sight.
    Thread.detachNewThread {
      while !Self.isDone.load(ordering: .relaxed) { source.post(name: .power, object: nil) }
    }
    for _ in 0..<5000 {
      center.relay(.power, from: source, to: .power) { _ in nil }.cancel()
    }
    Self.isDone.store(true, ordering: .relaxed)
  }

  @Test func allThreadsMayCancelTheSameRelay() {
    for _ in 0..<200 {
      let relay = center.relay(.power, from: source, to: PowerProtocol.self) { $0.powerChanged(1) }
      let observer = Slot<Bool>()
      onThreads(4) { _ in
        relay.cancel()
        if relay.isActive { observer.value = true }
      }
      #expect(observer.value == nil)
    }
    source.postPower(1)
    #expect(client.calls == 0)
  }

  @Test func centersAndSendersEndWhileNotificationsArePosted() {
    let traces = Locked<[RelayTrace]>([])
    onThreads(8) { number in
      for level in 0..<200 {
        let sender = Sender()
        defer { extendLifetime(sender) }
        if number % 2 == 0 {
          source.postPower(level, object: sender)
        } else {
          drained {
            let center = MulticastCenter()
            center.add(client, for: PowerProtocol.self)
            let relay = center.relayLevels(
              from: source, object: number % 4 == 1 ? sender : nil)
            traces.withLock { $0.append(RelayTrace(relay)) }
            source.postPower(level, object: sender)
            if number > 4 { relay.cancel() }
          }
        }
      }
    }
    #expect(client.calls >= 4 * 200)
    let calls = client.calls
    source.postPower(1)
    #expect(client.calls == calls)
    #expect(traces.withLock { $0.filter(\.isObserving).count } == 0)
  }
}
