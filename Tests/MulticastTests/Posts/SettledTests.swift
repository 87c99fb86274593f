import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// `settled()` returns when no post is in progress and no letter waits.
@Suite struct SettledTests {
  let center = MulticastCenter()
  let owner = kept(Owner())
  let numbers = Numbers()

  @Test(arguments: [false, true])
  func settledWaitsForPostsThatFollowInEveryHome(keepsLatest: Bool) async {
    let homes = Homes()
    let kinds: [HomeKind] = [.queue, .task, .mainActor, .none, .otherQueue, .task]
    let topics = (0...kinds.count).map { Topic<Int>("\($0)", keepsLatest: keepsLatest) }
    for (index, kind) in kinds.enumerated() {
      center.observe(topics[index], owner: owner, in: kind, of: homes) { number in
        numbers.add(number)
        center.post(topics[index + 1], number)
      }
    }
    for round in 1...20 {
      center.post(topics[0], round)
      #expect(await center.settled())
      #expect(numbers.all.count == round * kinds.count)
    }
  }

  @Test func settledWaitsForActorsAndAwaitingClients() async {
    actor Store {
      var ids: [Int] = []
      func observe(_ center: MulticastCenter) {
        center.observe(.login, owner: self) { (me: isolated Store, login) in
          me.ids.append(login.id)
        }
      }
    }
    let store = Store()
    await store.observe(center)
    let worker = Worker(onSlowWork: { number in
      for _ in 0..<20 { await Task.yield() }
      center.post(.login, Login(id: number))
    })
    center.add(worker, for: WorkerProtocol.self)
    for id in 1...3 { center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(id) }) }
    #expect(await center.settled())
    #expect(await store.ids == [1, 2, 3])
  }

  @Test func settledWaitsForTheLastCallOfARemovedHandler() async {
    let (begun, mayEnd) = (Signal(), Signal())
    let testHome = TestHome()
    let topic = Topic<Int>()
    let observation = center.observe(topic, owner: owner) { @Sendable _, _ in
      begun.send()
      await mayEnd.wait()
      center.post(.login, Login(id: 1))
    }
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in numbers.add(login.id) }
    center.post(topic, 1)
    await begun.wait()
    observation.cancel()
    center.removeHandlers(of: topic)
    // So many other handlers that the center drops mailboxes that are not in use.
    let others = Topic<Int>("others")
    for _ in 0..<100 {
      center.observe(others, owner: Owner()) { @Sendable _, _ in await Task.yield() }
    }
    Task {
      await Task.yield()
      mayEnd.send()
    }
    #expect(await center.settled())
    #expect(numbers.all == [1])
  }

  @Test func settledWaitsForPostsOfSeveralThreads() async {
    let homes = Homes()
    for kind in HomeKind.allCases {
      center.observe(Topic<Int>(), owner: owner, id: "\(kind)", in: kind, of: homes) { number in
        if number > 0 { center.post(Topic<Int>(), number - 1) }
        numbers.add(number)
      }
    }
    let rounds = Process.rounds(200, quick: 20)
    for round in 1...rounds {
      onThreads(2) { _ in center.post(Topic<Int>(), 1) }
      #expect(await center.settled())
      // All five handlers answer each of the two posts, and all five receive the answers.
      #expect(numbers.all.count == round * 2 * (5 + 25))
    }
  }

  /// A post that is calling its first listeners counts, although it has not left its letters yet.
  @Test func settledCountsAPostFromItsEntry() async {
    let testHome = TestHome()
    let (isCalled, mayReturn) = (Signal(), Signal())
    center.observe(.login, owner: owner) { _, _ in
      isCalled.send()
      mayReturn.wait()
    }
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in numbers.add(login.id) }
    DispatchQueue(label: "poster").async { [center] in center.post(.login, Login(id: 1)) }
    await isCalled.wait()
    let settled = Task { [center, numbers] in
      let hasSettled = await center.settled()
      return hasSettled ? numbers.all : []
    }
    for _ in 0..<100 { await Task.yield() }
    mayReturn.send()
    #expect(await settled.value == [1])
  }

  @Test func settledCountsAPostThatFollowsUntilItIsDelivered() async {
    let testHome = TestHome()
    center.observe(Topic<Int>(), owner: owner) { [center] _, number in
      center.post(.login, Login(id: number))
    }
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in numbers.add(login.id) }
    for number in 1...200 {
      DispatchQueue.global().async { [center] in center.post(Topic<Int>(), number) }
    }
    await numbers.wait(for: 200)
    #expect(await center.settled())
    #expect(Set(numbers.all) == Set(1...200))
  }

  /// A home that has to search for deallocated clients has no letter of a post to handle.
  @Test func settledDoesNotCountASearchForDeallocatedClients() async {
    let testHome = TestHome()
    testHome.queue.suspend()
    defer { testHome.queue.resume() }
    let delegates = center[PingProtocol.self]
    for _ in 0..<100 { delegates.add(Listener { _ in }, on: testHome.queue) }
    #expect(delegates.clientList.hasWaitingSearch)
    #expect(await center.settled())
    #expect(center.wiring.waiting.isEmpty)
  }

  @Test func atMostOneSearchOfAListWaitsInAHome() {
    let list = ClientList(.listener(PingProtocol.self))
    let home = Mailbox(.queue(MarkedQueue(DispatchQueue(label: "home"))))
    let (old, new) = (Roster.Group(of: home, []), Roster.Group(of: home, []))
    #expect(list.addWaitingSearch(of: [old], in: home))
    #expect(!list.addWaitingSearch(of: [new], in: home))
    // It searches what was to be searched last.
    #expect(list.takeWaitingSearch(in: home).map { $0 === new } == [true])
    #expect(list.addWaitingSearch(of: [old], in: home))
  }

  /// Otherwise the searches of a client in each of many actors would take the square of their number.
  @Test func aSearchIsForTheClientsOfItsHomeAlone() {
    let testHomes = (0..<10).map { TestHome("\($0)") }
    for testHome in testHomes { testHome.queue.suspend() }
    let delegates = center[PingProtocol.self]
    let listeners = (0..<100).map { _ in Listener { _ in } }
    for (index, listener) in listeners.enumerated() {
      delegates.add(listener, on: testHomes[index % 10].queue)
    }
    let list = delegates.clientList
    list.removeDeallocatedElsewhere()
    for group in list.roster.groups {
      #expect(list.takeWaitingSearch(in: group.home).map(\.boxes.count) == [10])
    }
    for testHome in testHomes { testHome.queue.resume() }
    extendLifetime(listeners)
  }

  /// Each of them is a home. With a search for each, an actor that is blocked would collect tasks.
  @Test func theAwaitingHandlersOfAnActorAreSearchedTogether() async throws {
    let actor = QueueActor()
    for _ in 0..<10 { await actor.observe(in: center) }
    actor.testHome.queue.suspend()
    let list = try #require(center.existingList(of: Topic<Int>()))
    list.removeDeallocatedElsewhere()
    let homes = list.roster.groups.map(\.home)
    #expect(homes.count == 10)
    #expect(list.takeWaitingSearch(in: homes[0]).count == 10)
    actor.testHome.queue.resume()
  }

  @Test func settledReturnsInAnIdleCenter() async {
    #expect(await center.settled())
    center.post(.login, Login(id: 1))
    #expect(await center.settled())
  }

  @Test func settledReturnsFalseWhenItsTaskIsCancelled() async {
    let testHome = TestHome()
    testHome.queue.suspend()
    defer { testHome.queue.resume() }
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in numbers.add(login.id) }
    center.post(.login, Login(id: 1))
    let wait = Task { await center.settled() }
    for _ in 0..<20 { await Task.yield() }
    wait.cancel()
    #expect(await !wait.value)
    #expect(numbers.all.isEmpty)
  }

  @Test func settledWaitsInAHandlerOfAnotherCenter() async {
    let testHome = TestHome()
    let other = MulticastCenter()
    other.observe(.login, owner: owner, on: testHome.queue) { _, login in numbers.add(login.id) }
    center.observe(.login, owner: owner) { @Sendable _, login in
      other.post(.login, login)
      #expect(await other.settled())
      numbers.add(-login.id)
    }
    await center.post(.login, Login(id: 1)).delivered()
    #expect(numbers.all == [1, -1])
  }

  @Test func settledInACallReturnsFalseAndWarns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let center = MulticastCenter()
      let owner = kept(Owner())
      center.observe(.login, owner: owner) { @Sendable _, _ in
        let hasSettled = await center.settled()
        precondition(!hasSettled)
      }
      await center.post(.login, Login(id: 1)).delivered()
    }
    expectWarning(result)
  }

  private func expectWarning(_ result: ExitTest.Result?, of function: String = "settled()") {
    #if DEBUG
      #expect(
        text(result).hasPrefix(
          "Multicast: \(function), called at MulticastTests/SettledTests.swift:"))
      #expect(text(result).split(separator: "\n").count == 1)
    #else
      #expect(text(result).isEmpty)
    #endif
  }

  /// A task that a handler starts with `Task.immediate` runs inside the handler's call.
  @Test func settledInATaskThatACallStartsImmediatelyReturnsFalseAndWarns() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let (center, owner, numbers) = (MulticastCenter(), kept(Owner()), Numbers())
      center.observe(.login, owner: owner) { _, login in
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
          Task.immediate {
            if await !center.settled() { numbers.add(login.id) }
          }
        }
      }
      center.post(.login, Login(id: 1))
      precondition(numbers.all == [1])
    }
    expectWarning(result)
  }

  // MARK: - Time limits

  /// Leaves a letter on a queue that is suspended.
  private func postToSuspendedQueue() -> TestHome {
    let testHome = TestHome()
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in numbers.add(login.id) }
    testHome.queue.suspend()
    center.post(.login, Login(id: 1))
    return testHome
  }

  private var waiters: Int { center.office.withLock { $0.waiters.count } }

  /// However long the limit is, it elapses, because the queue is suspended.
  @Test(arguments: [0, 0.001, -1, -.infinity] as [Double])
  func aLimitEndsTheWaitAndLeavesNoWaiter(seconds: Double) async {
    let testHome = postToSuspendedQueue()
    #expect(await !center.settled(within: seconds))
    #expect(waiters == 0)
    onNewThread { [center] in #expect(!center.waitUntilSettled(within: seconds)) }
    #expect(waiters == 0)
    #expect(numbers.all.isEmpty)
    testHome.queue.resume()
    #expect(await center.settled(within: 3_600))
    #expect(numbers.all == [1])
  }

  @Test(arguments: [0, 3_600, .infinity, .greatestFiniteMagnitude] as [Double])
  func aCenterThatHasSettledNeedsNoTime(seconds: Double) async {
    #expect(await center.settled(within: seconds))
    onNewThread { [center] in #expect(center.waitUntilSettled(within: seconds)) }
  }

  @Test func aLimitThatIsNotANumberStopsTheProgram() async {
    let awaited = await #expect(processExitsWith: .crash, observing: .errors) {
      _ = await MulticastCenter().settled(within: .nan)
    }
    #expect(text(awaited).contains("settled(within:) is not a number; use seconds, or .infinity"))
    let blocked = await #expect(processExitsWith: .crash, observing: .errors) {
      onNewThread { _ = MulticastCenter().waitUntilSettled(within: .nan) }
    }
    #expect(text(blocked).contains("waitUntilSettled(within:) is not a number; use seconds"))
  }

  @Test func aThreadWaitsForPostsThatFollowInEveryHome() async {
    let homes = Homes()
    let kinds: [HomeKind] = [.queue, .task, .mainActor, .none, .otherQueue, .task]
    let topics = (0...kinds.count).map { Topic<Int>("\($0)") }
    for (index, kind) in kinds.enumerated() {
      center.observe(topics[index], owner: owner, in: kind, of: homes) { number in
        numbers.add(number)
        center.post(topics[index + 1], number)
      }
    }
    for round in 1...20 {
      // The test must not block its thread, because tasks need it.
      let hasSettled = await withCheckedContinuation { continuation in
        DispatchQueue(label: "waiter").async { [center] in
          center.post(topics[0], round)
          continuation.resume(returning: center.waitUntilSettled(within: 3_600))
        }
      }
      #expect(hasSettled)
      #expect(numbers.all.count == round * kinds.count)
    }
  }

  @Test func cancellationEndsAWaitWithALimit() async {
    let testHome = postToSuspendedQueue()
    let wait = Task { await center.settled(within: 3_600) }
    for _ in 0..<20 { await Task.yield() }
    wait.cancel()
    #expect(await !wait.value)
    #expect(waiters == 0)
    testHome.queue.resume()
    #expect(await center.settled())
  }

  /// The timer of a limit that has not elapsed would keep the office alive for an hour.
  @Test func aWaitThatHasEndedKeepsNoTimer() async {
    let released = Signal()
    await {
      let sentinel = Sentinel { released.send() }
      let center = MulticastCenter(onDelivery: { _ in extendLifetime(sentinel) })
      #expect(await center.settled(within: 3_600))
    }()
    await released.wait()
  }

  @Test func aThreadThatAPostCallsDoesNotWaitAndWarns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let (center, owner) = (MulticastCenter(), kept(Owner()))
      center.observe(.login, owner: owner) { [center] _, _ in
        precondition(!center.waitUntilSettled(within: 3_600))
      }
      center.post(.login, Login(id: 1))
    }
    expectWarning(result, of: "waitUntilSettled(within:)")
  }

  @Test func aThreadThatAHomeNeedsReturnsFalseAndWarns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let (center, owner, testHome) = (MulticastCenter(), kept(Owner()), TestHome())
      func wait(_ seconds: Double, line: Int) {
        let hasSettled = center.waitUntilSettled(
          within: seconds, fileID: "App/Exit.swift", line: line, column: 5)
        precondition(!hasSettled)
      }
      center.observe(.login, owner: owner, on: testHome.queue) { _, _ in }
      testHome.queue.sync {
        onNewThread { center.post(.login, Login(id: 1)) }
        // Without a limit, the letter has had no time.
        wait(0, line: 1)
        wait(0.001, line: 2)
      }
      await center.settled()
      // The letter does not wait for this thread.
      testHome.queue.suspend()
      center.post(.login, Login(id: 2))
      wait(0.001, line: 3)
      testHome.queue.resume()
      await center.settled()
      await MainActor.run {
        center.observe(.login, owner: owner, on: .main) { _, _ in }
        onNewThread { center.post(.login, Login(id: 3)) }
        for _ in 0..<2 { wait(0.001, line: 4) }
      }
      await center.settled()
      // The task of an awaiting handler has taken the letter, and waits for the main actor.
      await MainActor.run {
        center.removeHandlers(of: .login)
        center.observe(.login, owner: owner) { @MainActor _, _ in await Task.yield() }
        onNewThread { center.post(.login, Login(id: 4)) }
        wait(0.001, line: 5)
      }
    }
    #if DEBUG
      let messages = [("queue test home", 2), ("MainActor", 4), ("task in MainActor", 5)].map {
        home, line in
        """
        Multicast: waitUntilSettled(within:), called at App/Exit.swift:\(line):5, returned false, because letters wait in \
        \(home), where it was called: a thread that waits may keep them from being handled. Call it on a thread that no home needs, or \
        await settled(within:).

        """
      }
      #expect(text(result) == messages.joined())
    #else
      #expect(text(result).isEmpty)
    #endif
  }

  @Test func aCancelledWaitLeavesNoWaiter() async {
    let testHome = TestHome()
    center.observe(.login, owner: owner, on: testHome.queue) { _, _ in }
    testHome.queue.suspend()
    center.post(.login, Login(id: 1))
    for _ in 0..<2_000 {
      let task = Task { await center.settled() }
      task.cancel()
      #expect(await task.value == false)
    }
    #expect(center.office.withLock { $0.waiters.count } == 0)
    testHome.queue.resume()
    #expect(await center.settled())
  }
}

extension QueueActor {
  fileprivate func observe(in center: MulticastCenter) {
    center.observe(Topic<Int>(), owner: self) { _, _ in
      await Task.yield()
      self.touch()
    }
  }

  private func touch() {}
}
