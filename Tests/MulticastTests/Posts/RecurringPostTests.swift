import Dispatch
@testable import Multicast
import TestSupport
import Testing

/// Rule 16 of the contract: a post may recur a thousand times.
@Suite struct RecurringPostTests {
  let calls = Numbers()
  let homes = Homes()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let owner = kept(Owner())

  @Test(arguments: [HomeKind.none, .queue, .task])
  func thePostAfterAThousandRecurringOnesIsRefused(home: HomeKind) async throws {
    let refused = Signal()
    @Sendable func post(_ number: Int) -> Int { center.post(Topic<Int>(), number).clients }
    center.observe(Topic<Int>(), owner: owner, in: home, of: homes) { number in
      calls.add(number)
      // If no post is refused, this ends the chain.
      if number > 5000 || post(number + 1) == 0 { refused.send() }
    }
    #expect(post(0) == 1)
    await refused.wait()
    #expect(calls.all == Array(0...1000))
    #expect(reports.all.count == 1)
    let report = try #require(reports.all.first)
    #expect(report.isPost)
    #expect(report.key == "Topic<Int>()")
    #expect(report.path.count == 1002)
    #expect(Set(report.path).count == 1)
    // This post has no cause, so it starts a new chain.
    #expect(post(0) == 1)
    await calls.wait(for: 2002)
  }

  @Test(arguments: [HomeKind.none, .queue, .task], [true, false])
  func recurringPostsBetweenTwoHandlersAreRefused(home: HomeKind, inOneCenter: Bool) async throws {
    let (one, two) = (Topic<Int>("one"), Topic<Int>("two"))
    let other = inOneCenter ? center : MulticastCenter(onRecursion: reports.handler)
    let ended = Signal()
    center.observe(one, owner: owner, in: home, of: homes) { number in
      calls.add(number)
      if number > 5000 || other.post(two, number + 1).clients == 0 { ended.send() }
    }
    other.observe(two, owner: owner, in: home == .queue ? .otherQueue : home, of: homes) { number in
      calls.add(number)
      if center.post(one, number + 1).clients == 0 { ended.send() }
    }
    center.post(one, 0)
    await ended.wait()
    #expect(reports.all.count == 1)
    let report = try #require(reports.all.first)
    #expect(report.isPost)
    // The first post of each of the two call sites does not recur.
    #expect(calls.all == Array(0...1002))
    #expect(report.path.count == 1004)
    #expect(Set(report.path).count == 3)
  }

  @Test func aTreeOfRecurringPostsIsRefusedAfterAThousand() {
    @Sendable func post() { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      calls.add(1)
      post()
      post()
    }
    post()
    #expect(calls.all.count == 1001)
    #expect(reports.all.count == 1)
  }

  @Test func aLoopThroughATopicAndAProtocolIsRefused() {
    @Sendable func post() { center.post(.login, Login(id: 1)) }
    center.adding(
      Listener { number in
        calls.add(number)
        post()
      })
    center.observe(.login, owner: owner) { _, _ in
      center.notify(PingProtocol.self) { $0.ping(1) }
    }
    post()
    #expect(calls.all.count == 1001)
    #expect(reports.all.count == 1)
  }

  @Test func recurringPostsCausedByAnAwaitedPostAreRefused() async {
    @Sendable func post() { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: owner) { _, _ in
      calls.add(1)
      post()
    }
    #expect(await center.post(.login, Login(id: 1)).delivered() == 1)
    // The awaited post does not count, because it has a call site of its own.
    #expect(calls.all.count == 1002)
    #expect(reports.all.count == 1)
  }

  @Test func messagesOfAChainAreReleasedAsSoonAsTheyAreHandled() {
    let alive = Alive()
    let left = Locked(900)
    @Sendable func post() { center.post(Topic<Sentinel>(), alive.makeSentinel()) }
    center.observe(Topic<Sentinel>(), owner: owner) { _, _ in
      let isLast = left.withLock { left in
        left -= 1
        return left == 0
      }
      if !isLast { post() }
    }
    post()
    #expect(left.withLock { $0 } == 0)
    #expect(alive.now == 0)
    #expect(alive.most < 5)
    #expect(reports.all.isEmpty)
  }

  @Test func independentChainsOfPostsAreCountedSeparately() async {
    let (testHome, calls) = (homes.one, Atomic<Int>(0))
    center.observe(Topic<Int>(), owner: owner, on: testHome.queue) { _, number in
      calls.wrappingAdd(1, ordering: .relaxed)
      if number > 0 { center.post(Topic<Int>(), number - 1) }
    }
    for _ in 0..<20 { center.post(Topic<Int>(), 900) }
    await center.settled()
    #expect(calls.load(ordering: .relaxed) == 20 * 901)
    #expect(reports.all.isEmpty)
  }

  /// If each link released the next, the stack would overflow here.
  @Test func aLongChainOfCausesIsReleasedWithoutRecursion() async {
    await #expect(processExitsWith: .success) {
      var cause = Cause(site: CallSite(), parent: nil)
      for _ in 0..<1_000_000 { cause = Cause(site: CallSite(), parent: cause) }
    }
  }
}

/// A post that a message or a captured object makes in its `deinit` follows the post that has released it, and is never lost.
@Suite struct PostInDeinitTests {
  /// A message that posts another one in its `deinit`.
  private final class Echo: Sendable {
    let depth: Int
    let center: MulticastCenter

    init(_ depth: Int, _ center: MulticastCenter) {
      self.depth = depth
      self.center = center
    }

    deinit {
      if depth > 0 { center.post(Topic<Echo>(), Echo(depth - 1, center)) }
    }
  }

  /// An object that posts a body in its `deinit`. The body captures the next such object.
  private final class BodyEcho: Sendable {
    let depth: Int
    let center: MulticastCenter

    init(_ depth: Int, _ center: MulticastCenter) {
      self.depth = depth
      self.center = center
    }

    static func post(_ depth: Int, to center: MulticastCenter) {
      let echo = BodyEcho(depth, center)
      center.post(PingProtocol.self) { $0.ping(echo.depth) }
    }

    deinit { if depth > 0 { Self.post(depth - 1, to: center) } }
  }

  let owner = kept(Owner())
  let homes = Homes()
  let reports = Reports()
  var center: MulticastCenter { reports.center }

  @Test(arguments: HomeKind.allCases) func aPostInTheDeinitOfAMessageFollows(home: HomeKind) async {
    let calls = Atomic<Int>(0)
    center.observe(Topic<Echo>(), owner: owner, in: home, of: homes) { _ in
      calls.wrappingAdd(1, ordering: .relaxed)
    }
    let rounds = Process.rounds(20_000, quick: 2_000)
    for _ in 0..<rounds { center.post(Topic<Echo>(), Echo(3, center)) }
    await center.settled()
    #expect(calls.load(ordering: .relaxed) == 4 * rounds)
    #expect(reports.all.isEmpty)
  }

  @Test(arguments: [false, true]) func aPostInTheDeinitOfACapturedObjectFollows(isLate: Bool) async
  {
    let counter = kept(Counter())
    center[PingProtocol.self].add(counter, on: isLate ? homes.one.queue : nil)
    let rounds = Process.rounds(20_000, quick: 2_000)
    for _ in 0..<rounds { BodyEcho.post(3, to: center) }
    await center.settled()
    #expect(counter.calls == 4 * rounds)
    #expect(reports.all.isEmpty)
  }

  @Test func aPostInADeinitDuringACallOfAPostFollows() async {
    let numbers = Numbers()
    center.observe(Topic<Echo>(), owner: owner) { _, echo in numbers.add(echo.depth) }
    center.observe(Topic<Int>(), owner: owner) { [center] _, number in
      numbers.add(number)
      if number == 200 { return }
      center.post(Topic<Echo>(), Echo(3, center))
      center.post(Topic<Int>(), 200)
    }
    center.post(Topic<Int>(), 100)
    // The post in the `deinit` of the first message follows the second post.
    #expect(numbers.all == [100, 3, 200, 2, 1, 0])
  }

  @Test(arguments: [HomeKind.queue, .mainActor, .task])
  func anEndlessChainOfPostsInDeinitsIsRefused(
    home: HomeKind
  ) async {
    let (calls, go) = (Numbers(), Signal())
    if home == .task {
      center.observe(Topic<Echo>(), owner: owner) { @Sendable _, echo in
        await go.wait()
        calls.add(echo.depth)
      }
    } else {
      center.observe(Topic<Echo>(), owner: owner, in: home, of: homes) { calls.add($0.depth) }
    }
    // The home handles the first message after the posting thread has released it. If that thread released it last, its post
    // would begin another chain.
    await MainActor.run {
      homes.one.queue.suspend()
      onNewThread { [center] in center.post(Topic<Echo>(), Echo(5_000, center)) }
      homes.one.queue.resume()
    }
    go.send()
    await center.settled()
    #expect(reports.all.count == 1)
    // The first message, the one that it posts in its `deinit`, and 1,000 recurring ones.
    #expect(calls.all == Array((5_000 - 1_001...5_000).reversed()))
  }

  @Test func deliveredReturnsForAMessageThatPostsInItsDeinit() async {
    let calls = Atomic<Int>(0)
    center.observe(Topic<Echo>(), owner: owner, on: homes.one.queue) { _, _ in
      calls.wrappingAdd(1, ordering: .relaxed)
    }
    for _ in 0..<500 { await center.post(Topic<Echo>(), Echo(1, center)).delivered() }
    await center.settled()
    #expect(calls.load(ordering: .relaxed) == 1_000)
  }
}
