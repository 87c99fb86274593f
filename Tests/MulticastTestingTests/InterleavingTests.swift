import Dispatch
import Multicast
import MulticastTesting
import TestSupport
import Testing
import XCTest

/// Where the body awaits, an exploration runs every order that rule 14 allows, and no other order.
@Suite struct InterleavingTests {
  @Test(arguments: [
    (HomeKind.queue, HomeKind.queue), (.queue, .mainActor), (.actor, .queue), (.mainActor, .actor),
    (.task, .actor), (.task, .task), (.mainActor, .task),
  ])
  func twoPostsToTwoHomesAreHandledInEveryAllowedOrder(_ one: HomeKind, _ other: HomeKind)
    async throws
  {
    let allowed = PartialOrder(
      events: ["p1", "p2", "A1", "A2", "B1", "B2"],
      precedences: [
        ("p1", "p2"), ("p1", "A1"), ("p1", "B1"), ("p2", "A2"), ("p2", "B2"), ("A1", "A2"),
        ("B1", "B2"),
      ])
    try await expectOrders(allowed) { center, journal in
      let household = Household(center)
      await household.observe(Topic<Int>(), in: one) { journal.write("A\($0)") }
      await household.observe(Topic<Int>(), in: other) { journal.write("B\($0)") }
      for number in 1...2 {
        journal.write("p\(number)")
        center.post(Topic<Int>(), number)
        await Interleavings.step()
      }
      await household.settle()
    }
  }

  /// Replays a body with one seed after the other until its journal has shown each allowed order.
  private func expectOrders(
    _ allowed: PartialOrder,
    _ body: @escaping @Sendable (MulticastCenter, Journal) async throws -> Void
  ) async throws {
    let allowed = allowed.orders
    let found = Locked<Set<String>>([])
    for seed in 0..<5000 where found.withLock({ $0.count }) < allowed.count {
      try await Interleavings.replay(seed: UInt64(seed)) { center in
        let journal = Journal()
        try await body(center, journal)
        let order = journal.read()
        #expect(allowed.contains(order))
        found.withLock { _ = $0.insert(order) }
      }
    }
    #expect(found.withLock { $0 } == allowed)
  }

  /// A seed gives the same order each time, even if other tests run concurrently.
  @Test func aSeedRepeatsItsOrder() async throws {
    let orders = Collected<[String]>()
    for _ in 0..<3 {
      let found = Collected<String>()
      try await Interleavings.explore(runs: 60) { center in
        let journal = Journal()
        let household = Household(center)
        for (index, kind) in HomeKind.allCases.enumerated() {
          await household.observe(Topic<Int>(), in: kind) { number in
            journal.write("\(kind)\(number)")
            if number < 10 { center.post(Topic<Int>(), 10 * number + index) }
          }
        }
        center.post(Topic<Int>(), 1)
        await Interleavings.step()
        await center.post(Topic<Int>(), 2).delivered()
        center.post(Topic<Int>(), 3)
        await household.settle()
        found.add(journal.read())
      }
      orders.add(found.all)
    }
    #expect(orders.all[1] == orders.all[0] && orders.all[2] == orders.all[0])
    #expect(Set(orders.all[0]).count > 50)
  }

  /// An `await` returns when the awaited post has been handled. Other letters may still wait.
  @Test func anAwaitedPostReturnsWhileOtherLettersStillWait() async throws {
    let counts = Collected<Int>()
    try await Interleavings.explore(runs: 60) { center in
      let (household, heard, question) = (Household(center), Numbers(), Topic<Int>("question"))
      for kind in [HomeKind.queue, .mainActor, .actor] {
        await household.observe(Topic<Int>(), in: kind) { heard.add($0) }
      }
      await household.observe(question, in: .queue) { center.post(Topic<Int>(), $0) }
      center.post(Topic<Int>(), 1)
      #expect(heard.all.isEmpty)
      await center.post(question, 2).delivered()
      // By then, the answer's letters have been left in each home.
      counts.add(heard.all.count)
      await household.settle()
      #expect(heard.all.sorted() == [1, 1, 1, 2, 2, 2])
    }
    #expect(Set(counts.all) == [0, 1, 2, 3])
  }

  /// While a handler awaits a post, other homes handle the letters of that post.
  @Test func aHandlerThatAwaitsAPostLetsOtherHomesHandleIt() async throws {
    try await Interleavings.explore(runs: 20) { center in
      let (question, answer) = (Topic<Int>("question"), Topic<Int>("answer"))
      let (household, owner, heard) = (Household(center), Resident(), Numbers())
      center.observe(question, owner: owner) { @Sendable _, number in
        await center.post(answer, number).delivered()
        heard.add(number)
      }
      for kind in HomeKind.allCases {
        await household.observe(answer, in: kind) { heard.add(10 * $0) }
      }
      center.post(question, 1)
      center.post(question, 2)
      await household.settle()
      extendLifetime(owner)
      #expect(heard.all == [10, 10, 10, 10, 1, 20, 20, 20, 20, 2])
    }
  }

  // MARK: - Failures

  @Test func anIssueListsTheLettersAndEndsTheExploration() async throws {
    let posts = Locked((first: 0, second: 0))
    let issues = try await issues {
      try await Interleavings.explore(runs: 100) { center in
        let (household, heard) = (Household(center), Journal())
        await household.observe(Topic<String>("mail"), in: .queue) { heard.write($0) }
        await household.observe(.login, in: .actor) { heard.write("\($0.id)") }
        center.post(Topic<String>("mail"), "two\nlines"); let first = #line
        center.post(.login, Login(id: 1)); let second = #line
        posts.withLock { $0 = (first, second) }
        await household.settle()
        #expect(heard.all[0] != "1")
      }
    }
    let lines = posts.withLock { $0 }
    let comment = try #require(issues.first)
    #expect(issues.count == 1)
    let seed = try #require(comment.split(separator: "(seed: ").last?.prefix { $0 != ")" })
    #expect(
      comment == """
        The letters in this order:
          1. Topic<Login>("login") Login(id: 1), posted at \(#fileID):\(lines.second):20, in Resident: Resident
          2. Topic<String>("mail") two lines, posted at \(#fileID):\(lines.first):20, in queue home: Resident
        With the seed \(seed): Interleavings.replay(seed: \(seed)) repeats it.
        """)
  }

  #if compiler(>=6.3)
    @Test func aWarningDoesNotEndTheExploration() async throws {
      let runs = Numbers()
      let issues = try await issues {
        try await Interleavings.explore(runs: 5) { _ in
          Issue.record("only a warning", severity: .warning)
          runs.add(1)
        }
      }
      #expect(runs.all.count == 5)
      #expect(issues == Array(repeating: "only a warning", count: 5))
    }
  #endif

  @Test(arguments: [0, -1]) func exploringNothingStopsTheProgram(count: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [count] in
      try await Interleavings.explore(runs: count) { _ in }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Interleavings.explore(runs: \(count)); use 1 or more runs"))
  }

  @Test func anErrorIsThrownWithItsSeed() async {
    struct Odd: Error {}
    let runs = Locked(0)
    let failure = await #expect(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(runs: 100) { _ in
        if runs.withLock({ runs in
          runs += 1
          return runs == 3
        }) {
          throw Odd()
        }
      }
    }
    #expect(failure?.seed == 2 && failure?.underlying is Odd)
    #expect(
      failure?.description
        == "Odd()\nNo letter was handled.\nWith the seed 2: Interleavings.replay(seed: 2) repeats it."
    )
  }

  @Test func aRequirementThatFailsIsOneIssue() async throws {
    let issues = try await issues {
      try await Interleavings.explore(runs: 3) { _ in
        let missing: Int? = nil
        _ = try #require(missing)
      }
    }
    #expect(issues.count == 1 && issues[0].contains("Interleavings.replay(seed: 0)"))
  }

  /// As in XCTest, which does not see the issues that Swift Testing records. In its own process, because an issue without a test is
  /// attributed to all tests that run at that moment.
  @Test func anIssueOutsideATestIsThrown() async {
    await #expect(processExitsWith: .success) {
      let failure = await Task.detached { () -> (any Error)? in
        do {
          try await Interleavings.explore(runs: 3) { center in
            #expect(MulticastCenter.current !== center, "the first issue")
            let recorder = TopicRecorder(center, .login, exhaustive: true)
            center.post(.login, Login(id: 1))
            extendLifetime(recorder)
          }
          return nil
        } catch {
          return error
        }
      }.value
      let text = (failure as? Interleavings.Failure)?.description ?? ""
      for part in [
        "the first issue", "their recorder is exhaustive", "Interleavings.replay(seed: 0)",
      ] {
        precondition(text.contains(part), text)
      }
    }
  }

  /// A child task of the body that was cancelled throws one, and the test itself is not cancelled.
  @Test func aCancellationErrorOfTheBodyIsThrownWithItsSeed() async {
    let failure = await #expect(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(runs: 1) { _ in throw CancellationError() }
    }
    #expect(failure?.underlying is CancellationError)
  }

  #if compiler(>=6.3)
    /// A cancelled test passes. It would fail if the exploration threw another error than the test has.
    @Test func aBodyCanCancelItsTest() async throws {
      let runs = Numbers()
      defer { #expect(runs.all == [1]) }
      try await Interleavings.explore(runs: 3) { _ in
        runs.add(1)
        try Test.cancel("as the test expects")
      }
    }
  #endif

  @Test func aSkipOfXCTestIsThrownUnchanged() async {
    await #expect(throws: XCTSkip.self) {
      try await Interleavings.explore(runs: 3) { _ in throw XCTSkip("as the test expects") }
    }
  }

  /// A handler waits for its own post, and the body does not wait.
  @Test func noLetterIsHandledWhileTheBodyRuns() async throws {
    try await Interleavings.explore(runs: 100) { center in
      let owner = Resident()
      let handled = Locked(0)
      center.observe(Topic<Int>("asks"), owner: owner) { _, number in
        await center.post(Topic<Int>("answers"), number).delivered()
        handled.withLock { $0 += 1 }
      }
      for name in ["answers", "others"] {
        center.observe(Topic<Int>(name), owner: owner, on: DispatchQueue(label: name)) { _, _ in
          handled.withLock { $0 += 1 }
        }
      }
      center.post(Topic<Int>("asks"), 1)
      for number in 1...3 { center.post(Topic<Int>("others"), number) }
      await Interleavings.step()
      await Interleavings.step()
      let before = handled.withLock { $0 }
      for _ in 0..<100 { await Task.yield() }
      #expect(handled.withLock { $0 } == before)
      await center.settled()
      #expect(handled.withLock { $0 } == 5)
      extendLifetime(owner)
    }
  }

  @Test func anErrorOutsideATestIsThrown() async {
    await #expect(processExitsWith: .success) {
      struct Odd: Error {}
      let failure = await Task.detached { () -> (any Error)? in
        do {
          try await Interleavings.explore(runs: 3) { _ in throw Odd() }
          return nil
        } catch {
          return error
        }
      }.value
      precondition((failure as? Interleavings.Failure)?.underlying is Odd)
    }
  }

  @Test func aRefusedLoopIsThrownAsAFailure() async {
    let failure = await #expect(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(runs: 1) { center in
        let household = Household(center)
        await household.observe(Topic<Int>(), in: .queue) { center.post(Topic<Int>(), $0) }
        center.post(Topic<Int>(), 1)
        await household.settle()
      }
    }
    #expect((failure?.underlying as? RecursiveNotify)?.isPost == true)
  }

  // MARK: - Runs

  @Test func theCenterOfARunIsTheCurrentOneAndCanBeRecorded() async throws {
    try await Interleavings.explore(runs: 3) { center in
      #expect(MulticastCenter.current === center)
      let household = Household(center)
      let deliveries = DeliveryRecorder()
      await household.observe(.login, in: .queue) { _ in }
      center.post(.login, Login(id: 1))
      let delivery = try await deliveries.next(.login)
      #expect(delivery.clients == 1)
      await household.settle()
    }
  }

  @Test func aRunEndsWhenEveryLetterIsHandled() async throws {
    for kind in HomeKind.allCases {
      let numbers = Numbers()
      let household = Locked<Household?>(nil)
      try await Interleavings.explore(runs: 20) { center in
        let made = Household(center)
        household.withLock { $0 = made }
        await made.observe(Topic<Int>(), in: kind) { number in
          numbers.add(number)
          if number < 3 { center.post(Topic<Int>(), number + 1) }
        }
        center.post(Topic<Int>(), 1)
      }
      #expect(numbers.all == Array(repeating: [1, 2, 3], count: 20).flatMap { $0 })
    }
  }

  @Test func theCenterOfARunWorksAfterTheRun() async throws {
    let left = Locked<Household?>(nil)
    let numbers = Numbers()
    try await Interleavings.replay(seed: 1) { center in
      let household = Household(center)
      for kind in HomeKind.allCases {
        await household.observe(Topic<Int>(), in: kind) { numbers.add($0) }
      }
      left.withLock { $0 = household }
    }
    let household = try #require(left.withLock { $0 })
    for number in 1...5 { household.center.post(Topic<Int>(), number) }
    await household.settle()
    #expect(numbers.all.sorted() == (1...5).flatMap { [$0, $0, $0, $0] })
  }

  @Test func aRecorderWaitsForDetachedTasksAndBlocksOnQueues() async throws {
    try await Interleavings.explore(runs: 20) { center in
      let logins = TopicRecorder(center, .login)
      let household = Household(center)
      await household.observe(Topic<Int>(), in: .queue) { number in
        Task.detached { center.post(.login, Login(id: number)) }
      }
      DispatchQueue(label: "free").async { center.post(Topic<Int>(), 1) }
      let login = try await logins.next()
      #expect(login.id == 1)
      await household.settle()
    }
  }

  /// An exploration counts the awaited calls of its own center only.
  @Test func aCallOfAnotherCenterCanWaitForThisOne() async throws {
    try await Interleavings.explore(runs: 3) { center in
      let (other, home) = (MulticastCenter(), DispatchQueue(label: "home"))
      let (owner, numbers) = (Resident(), Numbers())
      center.observe(Topic<Int>(), owner: owner, on: home) { _, number in numbers.add(number) }
      other.observe(.login, owner: owner) { @Sendable _, _ in
        center.post(Topic<Int>(), 1)
        await center.settled()
        numbers.add(2)
      }
      await other.post(.login, Login(id: 1)).delivered()
      center.post(Topic<Int>(), 3)
      await center.settled()
      extendLifetime(owner)
      #expect(numbers.all == [1, 2, 3])
    }
  }

  /// A handler on one queue posts, and a handler on another queue enters the first one with `sync`.
  @Test func aHandlerCanBlockAnotherHomeWithSync() async throws {
    try await Interleavings.explore(runs: 3) { center in
      let (busy, home) = (DispatchQueue(label: "busy"), DispatchQueue(label: "home"))
      let owner = Resident()
      let numbers = Numbers()
      center.observe(Topic<Int>("one"), owner: owner, on: busy) { _, number in
        for answer in 1...3 { center.post(Topic<Int>("two"), number + answer) }
      }
      center.observe(Topic<Int>("two"), owner: owner, on: home) { _, number in
        busy.sync { numbers.add(number) }
      }
      center.post(Topic<Int>("one"), 1)
      await center.settled()
      extendLifetime(owner)
      #expect(numbers.all == [2, 3, 4])
    }
  }

  /// The center itself leaves letters that search for deallocated clients. An exploration does not handle them one by one.
  @Test func searchesForDeallocatedClientsAreNotSteps() async throws {
    try await Interleavings.explore(runs: 3) { center in
      let (queue, heard) = (DispatchQueue(label: "home"), Numbers())
      for _ in 0..<1_000 { center.observe(Topic<Int>(), owner: Resident(), on: queue) { _, _ in } }
      #expect(center.wiring.waiting.isEmpty)
      let owner = Resident()
      center.observe(Topic<Int>(), owner: owner, on: queue) { _, number in heard.add(number) }
      center.post(Topic<Int>(), 1)
      #expect(center.wiring.waiting.map(\.letters) == [1])
      await Interleavings.step()
      await center.settled()
      extendLifetime(owner)
      #expect(heard.all == [1])
    }
  }

  /// So many that the list is full. No seed decides when a search for deallocated clients runs.
  @Test func aSeedRepeatsItsOrderWithDeallocatedOwners() async throws {
    func order(_ seed: UInt64) async throws -> [Int] {
      let heard = Numbers()
      try await Interleavings.replay(seed: seed) { center in
        let owner = Resident()
        for home in 0..<6 {
          let queue = DispatchQueue(label: "alive \(home)")
          center.observe(Topic<Int>(), owner: owner, on: queue) { _, number in
            heard.add(10 * home + number)
          }
        }
        for home in 0..<20 {
          let queue = DispatchQueue(label: "deallocated \(home)")
          center.observe(Topic<Int>(), owner: Resident(), on: queue) { _, _ in }
        }
        for number in 0..<3 { center.post(Topic<Int>(), number) }
        await center.settled()
        extendLifetime(owner)
      }
      return heard.all
    }
    for seed in 0..<5 as Range<UInt64> {
      let first = try await order(seed)
      for _ in 0..<5 { #expect(try await order(seed) == first) }
    }
  }

  // MARK: - Waits that end early

  /// A handler that waits until the body opens it, and what it does.
  private struct Gate {
    let owner = Resident()
    let received = Numbers()
    private let gate: AsyncStream<Never>
    private let opening: AsyncStream<Never>.Continuation

    /// Observes `Topic<Int>()`, posts to it, and returns when the handler waits.
    init(_ center: MulticastCenter) async {
      let (gate, opening) = AsyncStream<Never>.makeStream()
      (self.gate, self.opening) = (gate, opening)
      center.observe(Topic<Int>(), owner: owner) { @Sendable [received] _, number in
        received.add(number)
        for await _ in gate {}
      }
      center.post(Topic<Int>(), 1)
      while received.all.isEmpty { await center.settled(within: 0.001) }
    }

    func open() { opening.finish() }
  }

  @Test func aLimitEndsAWaitWhileAHandlerRuns() async throws {
    try await Interleavings.explore(runs: 3) { center in
      let gate = await Gate(center)
      for limit in [0, 0.001] { #expect(await center.settled(within: limit) == false) }
      gate.open()
      #expect(await center.settled(within: .infinity))
    }
  }

  @Test func cancellationEndsTheWaitsOfAChildTaskWhileAHandlerRuns() async throws {
    try await Interleavings.explore(runs: 3) { center in
      let gate = await Gate(center)
      let logins = TopicRecorder(center, .login)
      let waits = [
        Task { await center.settled() }, Task { (try? await logins.next()) != nil },
      ]
      for wait in waits { wait.cancel() }
      for wait in waits { #expect(await wait.value == false) }
      gate.open()
      #expect(await center.settled())
    }
  }

  /// No wait that has ended early counts as a wait, even one that has ended before it could begin.
  @Test func noLetterIsHandledAfterAWaitHasEndedEarly() async throws {
    try await Interleavings.explore(runs: 20) { center in
      let gate = await Gate(center)
      let (household, heard) = (Household(center), Numbers())
      for kind in HomeKind.allCases {
        await household.observe(Topic<Int>("others"), in: kind) { heard.add($0) }
      }
      let wait = Task { await center.settled() }
      wait.cancel()
      #expect(await wait.value == false)
      #expect(await center.settled(within: 0) == false)
      gate.open()
      for number in 1...3 { center.post(Topic<Int>("others"), number) }
      for _ in 0..<100 { await Task.yield() }
      #expect(heard.all.isEmpty)
      #expect(await center.settled())
      #expect(heard.all.count == 12 && gate.received.all == [1])
      extendLifetime(household)
    }
  }

  @Test func cancellationEndsARunThatAwaitsAMessage() async throws {
    let (begun, hasBegun) = AsyncStream<Void>.makeStream()
    let exploration = Task {
      try await Interleavings.explore(runs: 10) { center in
        let logins = TopicRecorder(center, .login)
        hasBegun.yield()
        _ = try await logins.next()
      }
    }
    for await _ in begun { break }
    exploration.cancel()
    let failure = await #expect(throws: Interleavings.Failure.self) { try await exploration.value }
    #expect(failure?.underlying is NothingRecorded)
  }

  /// A body that returns because it is cancelled may have checked nothing.
  @Test func cancellationEndsAReplay() async {
    let replay = Task {
      try await Interleavings.replay(seed: 1) { _ in while !Task.isCancelled { await Task.yield() }
      }
    }
    replay.cancel()
    await #expect(throws: CancellationError.self) { try await replay.value }
  }
}

/// Explorations in tests of XCTest.
final class InterleavingsInXCTestTests: XCTestCase {
  func testASkipIsThrownUnchanged() async throws {
    do {
      try await Interleavings.explore(runs: 3) { _ in throw XCTSkip("as the test expects") }
      XCTFail("The exploration has thrown nothing.")
    } catch is XCTSkip {}
  }

  /// XCTest would not count the issue if the test were skipped.
  func testAnIssueBeforeASkipIsThrown() async throws {
    do {
      try await Interleavings.explore(runs: 3) { center in
        #expect(MulticastCenter.current !== center, "the first issue")
        throw XCTSkip("as the test expects")
      }
      XCTFail("The exploration has thrown nothing.")
    } catch {
      XCTAssert("\(error)".contains("the first issue"))
    }
  }
}
