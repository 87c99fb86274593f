import TestSupport
import Multicast
import Testing

/// Rule 16 of the contract, for topics: a post that sets off itself is legitimate, up to a thousand times.
@Suite struct TopicLoopTests {
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let owner = kept(Owner())

  @Test func theThousandAndFirstPostInsideItselfIsRefusedAndReported() throws {
    let results = Locked<[Int]>([])
    @Sendable func post() -> Int { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      let result = post()
      results.withLock { $0.append(result) }
    }
    #expect(post() == 1)
    #expect(results.withLock { $0 } == Array(repeating: 1, count: 1000) + [0])
    #expect(reports.all.count == 1)
    let report = try #require(reports.all.first)
    #expect(report.key == "Topic<Login>(\"login\")")
    #expect(report.isPost)
    #expect(report.path.count == 1002)
    #expect(Set(report.path).count == 1)
    // The next one is not set off by that one.
    results.withLock { $0 = [] }
    #expect(post() == 1)
    #expect(results.withLock { $0.count } == 1001)
  }

  @Test func whatGrowsLikeATreeIsRefusedByTheNumberOfItsPosts() {
    let handled = Locked(0)
    @Sendable func post() { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      handled.withLock { $0 += 1 }
      post()
      post()
    }
    post()
    #expect(handled.withLock { $0 } == 1001)
    #expect(reports.all.count == 1)
  }

  @Test func aLoopThroughATopicAndAProtocolIsFound() throws {
    let client = center.adding(Client("a", Journal()))
    @Sendable func post() -> Int { center.post(.login, Login(id: 1)) }
    let pings = Locked(0)
    client.onPing = { _ in
      pings.withLock { $0 += 1 }
      _ = post()
    }
    center.observe(.login, owner: owner) { _, _ in
      center.notify(PingProtocol.self) { $0.ping(1) }
    }
    #expect(post() == 1)
    #expect(pings.withLock { $0 } == 1001)
    #expect(reports.all.count == 1)
  }

  @Test func anotherTopicOfTheSameMessageTypeIsNoLoop() {
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

  @Test func whatAPostAndWaitSetsOffIsCountedAsWell() async {
    let handled = Locked(0)
    @Sendable func post() -> Int { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      handled.withLock { $0 += 1 }
      _ = post()
    }
    #expect(await center.postAndWait(.login, Login(id: 1)) == 1)
    // The one that waits has a call site of its own.
    #expect(handled.withLock { $0 } == 1002)
    #expect(reports.all.count == 1)
  }
}
