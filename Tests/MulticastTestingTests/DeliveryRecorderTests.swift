import Dispatch
import Multicast
import MulticastTesting
import TestSupport
import Testing

@Suite(.ownCenter) struct DeliveryRecorderTests {
  let center = MulticastCenter.current
  let deliveries = DeliveryRecorder()
  let owner = kept(Resident())

  @Test func itTellsProtocolsTopicsAndCallSites() async throws {
    let clients = kept([Pinged(), Pinged()])
    for client in clients { center.add(client, for: PingProtocol.self) }
    center.observe(.login, owner: owner) { _, _ in }
    center.notify(PingProtocol.self) { $0.ping(1) }
    let line = #line - 1
    center.post(.login, Login(id: 1))
    let (notify, post) = (try await deliveries.next(), try await deliveries.next())
    #expect(notify.key == "PingProtocol" && notify.way == .notify && notify.clients == 2)
    #expect(notify.site.line == line && !notify.isRefused)
    #expect("\(notify)".hasSuffix("DeliveryRecorderTests.swift:\(line):18, clients: 2"))
    #expect(post.key == "\(Topic<Login>.login)" && post.way == .post && post.clients == 1)
    #expect(post.site.line == line + 2)
  }

  @Test func itCountsThoseForWhomALetterIsLeft() async throws {
    let topic = Topic<Int>("level", keepsLatest: true)
    for topic in [topic, Topic<Int>("other")] {
      let queue = DispatchQueue(label: "home")
      center.observe(topic, owner: owner) { _, _ in }
      center.observe(topic, owner: owner, on: queue) { _, _ in }
      center.observe(topic, owner: owner, on: queue) { _, _ in }
      center.observe(topic, owner: owner) { @Sendable _, _ in await Task.yield() }
      center.post(topic, 1)
      #expect(try await deliveries.next(topic).clients == 4)
    }
    await center.settled()
    #expect(deliveries.all.count == 2)
  }

  @Test func whatIsTakenByProtocolLeavesTheOthers() async throws {
    let client = kept(Pinged())
    center.add(client, for: PingProtocol.self)
    center.observe(.login, owner: owner) { _, _ in }
    center.post(.login, Login(id: 1))
    Task { center.post(PingProtocol.self) { $0.ping(1) } }
    #expect(try await deliveries.next(PingProtocol.self).key == "PingProtocol")
    #expect(try await deliveries.next(.login).clients == 1)
  }

  @Test func aNestedNotifyComesAfterTheOneThatCausedIt() async throws {
    let client = kept(
      Pinged { number in
        if number == 1 { center.notify(PingProtocol.self) { $0.ping(2) } }
      })
    center.add(client, for: PingProtocol.self)
    center.notify(PingProtocol.self) { $0.ping(1) }
    let lines = deliveries.all.map(\.site.line)
    #expect(lines.count == 2 && lines[0] > lines[1])
  }

  @Test func aLoopIsRefused() async throws {
    let center = MulticastCenter.recordable(onRecursion: { _ in })
    let deliveries = DeliveryRecorder(center)
    let again = Locked<(@Sendable () -> Void)?>(nil)
    let client = kept(Pinged { _ in again.withLock { $0 }?() })
    center.add(client, for: PingProtocol.self)
    let notify: @Sendable () -> Void = { center.notify(PingProtocol.self) { $0.ping(1) } }
    again.withLock { $0 = notify }
    notify()
    #expect(deliveries.all.map(\.isRefused) == [false, true])
    #expect(deliveries.all.map(\.clients) == [1, 0])
    again.withLock { $0 = nil }
  }

  @Test func aCenterThatReportsToNobodyFailsTheTest() async throws {
    let issues = try await issues { _ = DeliveryRecorder(MulticastCenter()) }
    #expect(issues.count == 1 && issues[0].contains("recordable()"))
  }

  @Test func anExhaustiveOneFailsATestThatLeavesDeliveries() async throws {
    let owner = owner
    let issues = try await issues {
      try await OwnCenter.ownCenter.run {
        _ = DeliveryRecorder(exhaustive: true)
        MulticastCenter.current.observe(.login, owner: owner) { _, _ in }
        MulticastCenter.current.post(.login, Login(id: 1))
      }
    }
    #expect(issues.count == 1 && issues[0].contains("Nobody has taken these deliveries"))
  }

  @Test func aWaitThatIsCancelledTellsWhatWasRecorded() async throws {
    center.observe(.login, owner: owner) { _, _ in }
    center.post(.login, Login(id: 1))
    let wait = Task { try await deliveries.next(PingProtocol.self) }
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(error?.description.contains("a delivery to PingProtocol") == true)
    #expect(error?.description.contains("1. post Topic<Login>") == true)
  }
}
