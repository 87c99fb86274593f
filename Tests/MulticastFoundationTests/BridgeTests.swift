import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// Rules 11 and 16 of the contract, for loops through Foundation's notification center.
@Suite struct BridgeLoopTests {
  let journal = Journal()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let source = NotificationCenter()
  let owner = kept(Owner())

  private func listen() {
    center.observe(.power, owner: owner) { _, power in journal.write("\(power.level)") }
  }

  private func relay(line: Int = #line, column: Int = #column) {
    center.relay(.power, from: source, to: .power, line: line, column: column) { notification in
      notification.level.map { Power(level: $0 + 1) }
    }
  }

  private func forward() {
    center.forward(.power, to: source, as: .power) { ["level": $0.level] }
  }

  @Test func aMessageThatReturnsAsANotificationRecursAThousandTimes() {
    listen()
    let relaySite = CallSite(line: #line + 1, column: 1)
    relay(line: #line, column: 1)
    forward()
    func post(
      fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) -> CallSite {
      center.post(
        .power, Power(level: 1), fileID: fileID, line: line, column: column)
      return CallSite(fileID: fileID, line: line, column: column)
    }
    let postSite = post()
    // The first post does not count as recurring, because it has another call site than the relay.
    #expect(journal.readLevels() == Array(1...1002))
    #expect(reports.all.map(\.key) == ["Topic<Power>(\"power\")"])
    #expect(reports.all.first?.isPost == true)
    #expect(reports.all.first?.path.prefix(3) == [postSite, relaySite, relaySite])
  }

  @Test func aNotificationThatReturnsAsAMessageRecursAThousandTimes() {
    listen()
    let line = #line + 1
    center.relay(.power, from: source, to: .power) { Power(level: ($0.level ?? 0) + 1) }
    forward()
    source.postPower(1)
    #expect(journal.readLevels() == Array(2...1002))
    // The call site of a relay's posts is the call of `relay`.
    let path = reports.all.first?.path ?? []
    #expect(Set(path).count == 1)
    #expect(path.first?.line == line)
    #expect(path.first?.fileID == "MulticastFoundationTests/BridgeTests.swift")
    source.postPower(5)
    #expect(journal.readLevels() == Array(6...1006))
    #expect(reports.all.count == 2)
  }

  @Test func twoRelaysFromOneCallSiteAreNotALoop() {
    listen()
    for _ in 0..<2 { relay() }
    source.postPower(1)
    // Two relays that post one after the other are not a loop.
    #expect(journal.read() == "2 2")
    #expect(reports.all.isEmpty)
  }

  @Test(arguments: [true, false]) func aClientThatPostsTheNotificationThatCalledItIsALoop(
    maps: Bool
  ) {
    let client = center.adding(Client("", journal))
    let line = 1
    let relay =
      maps
      ? center.relayLevels(from: source, line: line)
      : center.relay(.power, from: source, to: PowerProtocol.self, line: line) {
        $0.powerChanged(1)
      }
    client.onChange = { [source] level in source.postPower(level + 1) }
    source.postPower(1)
    let expected = maps ? Array(1...1001) : Array(repeating: 1, count: 1001)
    #expect(journal.readLevels() == expected)
    #expect(reports.all.map { Set($0.path.map(\.line)) } == [[line]])
    // Each notification could be mapped.
    #expect(relay.dropped == 0)
  }

  @Test func relaysOfAnotherNameAndAnotherCenterAreNotALoop() {
    let client = center.adding(Client("a", journal))
    center.relayLevels(from: source)
    center.relayLevels(of: .otherPower, from: source)
    client.onChange = { [source] level in
      if level == 1 { source.postPower(2, as: .otherPower) }
    }
    let other = MulticastCenter(onRecursion: reports.handler)
    other.adding(Client("other", journal))
    other.relayLevels(from: source)
    source.postPower(1)
    #expect(journal.read().split(separator: " ").sorted() == ["a1", "a2", "other1"])
    #expect(reports.all.isEmpty)
  }
}

/// Relays and forwards that several threads use concurrently.
@Suite struct BridgeThreadTests {
  let center = MulticastCenter()
  let source = NotificationCenter()
  let client = kept(Counter())

  init() {
    center.add(client, for: PowerProtocol.self)
  }

  @Test func notificationsAndMessagesOfSeveralThreadsAllArrive() {
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

  @Test func relaysCanComeAndGoWhileNotificationsArePosted() {
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
    // Each relay existed while its own thread posted, and no relay is left.
    let calls = client.calls
    #expect(calls >= 4 * 200)
    source.postPower(1)
    #expect(client.calls == calls)
  }

  private static let isDone = Atomic<Bool>(false)

  @Test func aRelayCanBeCalledDuringItsCreation() {
    // The flag does not order memory accesses. Only the relay itself can show the thread sanitizer that it is initialized
    // before it is called, because the sanitizer does not see Foundation's lock.
    Thread.detachNewThread {
      while !Self.isDone.load(ordering: .relaxed) { source.post(name: .power, object: nil) }
    }
    for _ in 0..<5000 {
      center.relay(.power, from: source, to: .power) { _ in nil }.cancel()
    }
    Self.isDone.store(true, ordering: .relaxed)
  }

  @Test func severalThreadsCanCancelOneRelay() {
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

  @Test func centersAndSendersCanBeDeallocatedWhileNotificationsArePosted() {
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
