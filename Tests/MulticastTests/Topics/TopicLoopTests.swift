import TestSupport
import Multicast
import Testing

/// Rule 11 of the contract, for topics.
@Suite struct TopicLoopTests {
  let reports = Reports()
  let center: MulticastCenter
  let owner = Owner()

  init() {
    center = MulticastCenter(onRecursion: reports.handler)
  }

  @Test func aPostInsideItselfIsRefusedAndReported() throws {
    let center = center
    let results = Locked<[Int]>([])
    @Sendable func post() -> Int { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      let result = post()
      results.withLock { $0.append(result) }
    }
    #expect(post() == 1)
    #expect(results.withLock { $0 } == [0])
    let report = try #require(reports.all.first)
    #expect(report.listener == "Topic<Login>(\"login\")")
    #expect(report.path.count == 2)
    #expect(report.path[0] == report.path[1])
  }

  @Test func aLoopThroughATopicAndAProtocolIsFound() throws {
    let center = center
    let client = Client("a", Journal())
    defer { extendLifetime(client) }
    center.add(client, for: PingProtocol.self)
    @Sendable func post() -> Int { center.post(.login, Login(id: 1)) }
    client.onPing = { _ in #expect(post() == 0) }
    center.observe(.login, owner: owner) { _, _ in
      center.notify(PingProtocol.self) { $0.ping(1) }
    }
    #expect(post() == 1)
    #expect(reports.all.first?.path.count == 3)
  }

  @Test func anotherTopicOfTheSameMessageTypeIsNoLoop() {
    let center = center
    let results = Locked<[Int]>([])
    @Sendable func post(_ name: String) -> Int { center.post(Topic<Int>(name), 1) }
    center.observe(Topic<Int>("one"), owner: owner) { _, _ in
      let result = post("two")
      results.withLock { $0.append(result) }
    }
    center.observe(Topic<Int>("two"), owner: owner) { _, _ in }
    #expect(post("one") == 1)
    #expect(results.withLock { $0 } == [1])
    #expect(reports.all.isEmpty)
  }

  @Test func aHandlerThatRunsLaterIsAChainOfItsOwn() async {
    let center = center
    let ids = Locked<[Int]>([])
    @Sendable func post(_ id: Int) -> Int { center.post(.login, Login(id: id)) }
    center.observe(.login, owner: owner) { _, login in
      await Task.yield()
      ids.withLock { $0.append(login.id) }
      if login.id < 5 { #expect(post(login.id + 1) == 1) }
    }
    #expect(post(0) == 1)
    while ids.withLock({ $0.count }) < 6 { await Task.yield() }
    #expect(ids.withLock { $0 } == [0, 1, 2, 3, 4, 5])
    #expect(reports.all.isEmpty)
  }

  @Test func aPostAndWaitInsideItselfIsRefused() async {
    let center = center
    let results = Locked<[Int]>([])
    @Sendable func post() -> Int { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      let result = post()
      results.withLock { $0.append(result) }
    }
    // Another call site: the first nested post is delivered, the one inside that is not.
    #expect(await center.postAndWait(.login, Login(id: 1)) == 1)
    #expect(results.withLock { $0 } == [0, 1])
    #expect(reports.all.first?.path.count == 3)
  }
}
