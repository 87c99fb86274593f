import Dispatch
import Multicast
import TestSupport
import Testing

@testable import MulticastTesting

private protocol PageProtocol {
  func page()
}

private final class Paged: PageProtocol {
  func page() {}
}

@Suite(.ownCenter) struct DeliveryRecorderTests {
  let center = MulticastCenter.current
  let deliveries = DeliveryRecorder()
  let owner = kept(Resident())

  @Test func deliveriesAreRecordedWithProtocolsTopicsAndCallSites() async throws {
    let clients = kept([Pinged(), Pinged()])
    for client in clients { center.add(client, for: PingProtocol.self) }
    center.observe(.login, owner: owner) { _, _ in }
    center.notify(PingProtocol.self) { $0.ping(1) }
    let line = #line - 1
    center.post(.login, Login(id: 1))
    let (notify, post) = (try await deliveries.next(), try await deliveries.next())
    #expect(notify.key == "PingProtocol" && notify.way == .notify && notify.clients == 2)
    #expect(notify.site.line == line && !notify.isRefused)
    #expect("\(notify)".hasSuffix("RecorderTests.swift:\(line):18, clients: 2"))
    #expect(post.key == "\(Topic<Login>.login)" && post.way == .post && post.clients == 1)
    #expect(post.site.line == line + 2)
  }

  @Test func aDeliveryCountsTheListenersForWhichALetterIsLeft() async throws {
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

  /// A handler without a home of a topic that keeps its latest message is called by one thread at a time, so another thread leaves
  /// it a letter.
  @Test func aDeliveryCountsAHandlerWithoutAHomeThatIsBusy() async throws {
    let topic = Topic<Int>("level", keepsLatest: true)
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    center.observe(topic, owner: owner) { @Sendable _, number in
      guard number == 1 else { return }
      entered.signal()
      mayLeave.wait()
    }
    let hasPosted = DispatchSemaphore(value: 0)
    onNewThread { [center] in
      DispatchQueue(label: "other").async {
        center.post(topic, 1)
        hasPosted.signal()
      }
      entered.wait()
      #expect(center.post(topic, 2).clients == 1)
      mayLeave.signal()
      hasPosted.wait()
    }
    #expect(deliveries.all.map(\.clients) == [1, 1])
  }

  @Test func takingADeliveryOfAProtocolLeavesOtherDeliveries() async throws {
    let client = kept(Pinged())
    center.add(client, for: PingProtocol.self)
    center.observe(.login, owner: owner) { _, _ in }
    center.post(.login, Login(id: 1))
    Task { center.post(PingProtocol.self) { $0.ping(1) } }
    #expect(try await deliveries.next(PingProtocol.self).key == "PingProtocol")
    #expect(try await deliveries.next(.login).clients == 1)
  }

  /// The type of a protocol that is not `Sendable` must not leave the actor, so `next` stays there. Otherwise this does not
  /// compile.
  @MainActor @Test func aTestInTheMainActorTakesADeliveryOfAProtocol() async throws {
    let client = Paged()
    center.add(client, for: PageProtocol.self)
    center.notify(PageProtocol.self) { $0.page() }
    #expect(try await deliveries.next(PageProtocol.self).clients == 1)
    extendLifetime(client)
  }

  @Test func aNestedNotifyIsRecordedAfterTheOuterOne() async throws {
    let client = kept(
      Pinged { number in
        if number == 1 { center.notify(PingProtocol.self) { $0.ping(2) } }
      })
    center.add(client, for: PingProtocol.self)
    center.notify(PingProtocol.self) { $0.ping(1) }
    let lines = deliveries.all.map(\.site.line)
    #expect(lines.count == 2 && lines[0] > lines[1])
  }

  /// The nested delivery ends first, and a test may take a delivery at that moment.
  @Test func aNestedNotifyIsTakenAfterTheOuterOne() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (lines, done) = AsyncStream<(waiter: Int, line: Int)>.makeStream()
    let client = kept(
      Pinged { number in
        guard number == 1 else { return }
        center.notify(PingProtocol.self) { $0.ping(2) }
        for waiter in 0..<2 {
          // Begins to wait before this call returns. The second one may go on before the first one.
          Task.immediate {
            done.yield((waiter, try await deliveries.next(PingProtocol.self).site.line))
          }
        }
      })
    center.add(client, for: PingProtocol.self)
    center.notify(PingProtocol.self) { $0.ping(1) }
    var taken = [0, 0]
    for await (waiter, line) in lines.prefix(2) { taken[waiter] = line }
    #expect(taken == deliveries.all.map(\.site.line))
  }

  /// A post of a handler follows. It is made before the `notify` there, and begins after it.
  @Test func deliveriesAreTakenInTheOrderInWhichTheyBegin() async throws {
    let client = kept(Pinged())
    center.add(client, for: PingProtocol.self)
    let queue = DispatchQueue(label: "home")
    center.observe(.login, owner: owner, on: queue) { [center] _, login in
      center.post(Topic<Int>(), login.id)
      center.notify(PingProtocol.self) { $0.ping(1) }
    }
    center.observe(Topic<Int>(), owner: owner) { _, _ in }
    async let first = deliveries.next()
    async let second = deliveries.next()
    async let third = deliveries.next()
    center.post(.login, Login(id: 1))
    _ = try await [first, second, third]
    let keys = ["\(Topic<Login>.login)", "PingProtocol", "\(Topic<Int>())"]
    #expect(deliveries.all.map(\.key) == keys)
    // One task takes them in that order.
    center.post(.login, Login(id: 2))
    for key in keys { #expect(try await deliveries.next().key == key) }
  }

  /// A call that awaits may await what the test does after it has taken a delivery.
  @Test func aDeliveryThatAwaitsIsTakenWhenItHasEnded() async throws {
    let client = kept(Pinged())
    center.add(client, for: PingProtocol.self)
    center.observe(.login, owner: owner) { _, _ in }
    let (gate, open) = AsyncStream<Never>.makeStream()
    let (begun, begin) = AsyncStream<Never>.makeStream()
    async let notified = center.notify(
      PingProtocol.self,
      awaiting: { _ in
        begin.finish()
        for await _ in gate {}
      })
    for await _ in begun {}
    center.post(.login, Login(id: 1))
    #expect(try await deliveries.next().way == .post)
    open.finish()
    _ = await notified
    #expect(try await deliveries.next().way == .awaiting)
  }

  @Test func aRefusedLoopIsRecorded() async throws {
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

  @Test func aCenterThatCannotBeRecordedFailsTheTest() async throws {
    let issues = try await issues { _ = DeliveryRecorder(MulticastCenter()) }
    #expect(issues.count == 1 && issues[0].contains("recordable()"))
  }

  @Test func anExhaustiveRecorderFailsATestThatLeavesDeliveries() async throws {
    let owner = owner
    let issues = try await issues {
      try await OwnCenter.ownCenter.run {
        _ = DeliveryRecorder(exhaustive: true)
        MulticastCenter.current.observe(.login, owner: owner) { _, _ in }
        MulticastCenter.current.post(.login, Login(id: 1))
      }
    }
    #expect(issues.count == 1 && issues[0].contains("The test has not taken these deliveries"))
  }

  @Test func aCancelledWaitNamesADeliveryThatHasNotEnded() async throws {
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let client = kept(
      Pinged { _ in
        entered.signal()
        mayLeave.wait()
      })
    center.add(client, for: PingProtocol.self)
    let hasNotified = DispatchSemaphore(value: 0)
    DispatchQueue(label: "other").async { [center] in
      center.notify(PingProtocol.self) { $0.ping(1) }
      hasNotified.signal()
    }
    onNewThread { entered.wait() }
    let wait = Task { try await deliveries.next() }
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(error?.description.hasSuffix(", has not ended") == true)
    #expect(deliveries.all.isEmpty)
    onNewThread {
      mayLeave.signal()
      hasNotified.wait()
    }
    #expect(try await deliveries.next().clients == 1)
  }

  @Test func aCancelledWaitThrowsTheRecordedDeliveries() async throws {
    center.observe(.login, owner: owner) { _, _ in }
    center.post(.login, Login(id: 1))
    let wait = Task { try await deliveries.next(PingProtocol.self) }
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(error?.description.contains("a delivery to PingProtocol") == true)
    #expect(error?.description.contains("1. post Topic<Login>") == true)
  }
}

@Suite(.ownCenter) struct TopicRecorderTests {
  let center = MulticastCenter.current

  @Test func messagesAreRecordedInTheOrderOfThePosts() async throws {
    let recorder = TopicRecorder(center, .login)
    for id in 1...3 { center.post(.login, Login(id: id)) }
    #expect(try await recorder.next() == Login(id: 1))
    #expect(try await recorder.next() == Login(id: 2))
    #expect(recorder.all.map(\.id) == [1, 2, 3])
    #expect(try await recorder.next() == Login(id: 3))
  }

  @Test func nextWaitsForAPostOfAnotherTask() async throws {
    let recorder = TopicRecorder(center, .login)
    Task {
      for id in 1...100 {
        await Task.yield()
        center.post(.login, Login(id: id))
      }
    }
    for id in 1...100 { #expect(try await recorder.next().id == id) }
  }

  @Test func concurrentWaitsReceiveDifferentMessages() async throws {
    let recorder = TopicRecorder(center, .login)
    async let one = recorder.next()
    async let other = recorder.next()
    for id in 1...2 { center.post(.login, Login(id: id)) }
    #expect(try await [one.id, other.id].sorted() == [1, 2])
  }

  @Test func theLatestMessageIsRecordedFirst() async throws {
    let topic = Topic<Int>("level", keepsLatest: true)
    center.post(topic, 1)
    let recorder = TopicRecorder(center, topic)
    center.post(topic, 2)
    #expect(try await recorder.next() == 1)
    #expect(try await recorder.next() == 2)
  }

  @Test func aReleasedRecorderDoesNotRecord() {
    _ = TopicRecorder(center, .login)
    #expect(center.post(.login, Login(id: 1)).clients == 0)
  }

  @Test func aCancelledWaitThrowsTheRecordedMessages() async throws {
    let recorder = TopicRecorder(center, .login)
    for id in 1...2 { center.post(.login, Login(id: id)) }
    let (taken, hasTaken) = AsyncStream<Void>.makeStream()
    let wait = Task {
      for _ in 1...2 { _ = try await recorder.next() }
      hasTaken.finish()
      _ = try await recorder.next()
    }
    for await _ in taken {}
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(
      error?.description == """
        The wait for a message of \(Topic<Login>.login) was cancelled, as by a time limit. Recorded until then:
          1. Login(id: 1)
          2. Login(id: 2)
        """)
    // The cancelled wait has not taken a message.
    center.post(.login, Login(id: 3))
    #expect(recorder.all.count == 3)
  }

  /// `next` throws whenever its task is cancelled.
  @Test func aCancellationAtAnyMomentEndsTheWait() async throws {
    for round in 0..<10_000 {
      let recording = Recording<Int>()
      recording.add(0)
      let (begun, looked) = (Atomic<Bool>(false), Atomic<Bool>(false))
      let wait = Task.detached {
        begun.store(true, ordering: .releasing)
        return try? await recording.next("1") { number in
          looked.store(true, ordering: .releasing)
          return number == 1
        }
      }
      // Yield, because this thread is one of the few that run tasks.
      while !begun.load(ordering: .acquiring) { await Task.yield() }
      // Each round cancels a little later, so that some cancellations come while `next()` decides whether to wait.
      for _ in 0..<round % 200 { _ = begun.load(ordering: .acquiring) }
      wait.cancel()
      // After `next()` has examined the recorded numbers and released the lock, it has also decided whether to wait.
      while !looked.load(ordering: .acquiring) { await Task.yield() }
      _ = recording.all
      recording.add(1)
      #expect(await wait.value == nil)
    }
  }

  @Test func theErrorStatesThatNothingWasRecorded() async throws {
    let recorder = TopicRecorder(center, .login)
    let wait = Task { try await recorder.next() }
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(error?.description.hasSuffix("Nothing was recorded.") == true)
  }

  // MARK: - Exhaustive

  @Test func anExhaustiveRecorderFailsATestThatLeavesMessages() async throws {
    let issues = try await issues {
      try await OwnCenter.ownCenter.run {
        _ = TopicRecorder(.current, .login, exhaustive: true)
        for id in 1...2 { MulticastCenter.current.post(.login, Login(id: id)) }
      }
    }
    #expect(
      issues == [
        """
        The test has not taken these messages of \(Topic<Login>.login), and their recorder is exhaustive:
          Login(id: 1)
          Login(id: 2)
        """
      ])
  }

  @Test(arguments: [true, false])
  func anExhaustiveRecorderFailsATestThatLeavesWhatAnotherHomePosts(isOfTestsCenter: Bool)
    async throws
  {
    let owner = kept(Resident())
    let issues = try await issues {
      try await OwnCenter(patience: .infinity).run {
        let center = isOfTestsCenter ? MulticastCenter.current : MulticastCenter()
        _ = TopicRecorder(center, .login, exhaustive: true)
        center.observe(Topic<Int>("count"), owner: owner) { @Sendable _, _ in
          // So that it still runs when the test has ended.
          for _ in 0..<100 { await Task.yield() }
          center.post(.login, Login(id: 1))
        }
        center.post(Topic<Int>("count"), 1)
      }
    }
    #expect(issues.count == 1 && issues[0].contains("Login(id: 1)"))
  }

  @Test func anExhaustiveRecorderPassesATestThatTakesAllMessages() async throws {
    try await OwnCenter.ownCenter.run {
      let recorder = TopicRecorder(.current, .login, exhaustive: true)
      MulticastCenter.current.post(.login, Login(id: 1))
      let login = try await recorder.next()
      #expect(login.id == 1)
    }
  }

  @Test func anExhaustiveRecorderIsCheckedAfterEachRunOfAnExploration() async throws {
    let issues = try await issues {
      try await Interleavings.explore(runs: 3) { center in
        let recorder = TopicRecorder(center, .login, exhaustive: true)
        center.post(.login, Login(id: 1))
        extendLifetime(recorder)
      }
    }
    // The exploration ends with the first run that fails.
    #expect(issues.count == 1 && issues[0].contains("The test has not taken these messages"))
  }
}

@Suite struct ExhaustiveRecorderTests {
  @Test func anExhaustiveRecorderFailsATestWithoutTheTrait() async throws {
    let issues = try await issues {
      _ = TopicRecorder(MulticastCenter(), .login, exhaustive: true)
    }
    #expect(issues.count == 1 && issues[0].contains(".ownCenter"))
  }
}

/// A mistake that no test could report, as in XCTest, stops the program.
@Suite struct MisuseTests {
  @Test func anExhaustiveRecorderOutsideATestStopsTheProgram() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await Task.detached {
        _ = TopicRecorder(MulticastCenter(), Topic<Int>(), exhaustive: true)
      }.value
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("An exhaustive recorder needs a test with the trait .ownCenter"))
  }

  @Test func aCenterThatCannotBeRecordedStopsTheProgramOutsideATest() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await Task.detached { _ = DeliveryRecorder(MulticastCenter()) }.value
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("The deliveries of this center cannot be recorded."))
  }
}

extension OwnCenter {
  /// Runs a body as a test with this trait.
  func run(_ body: @Sendable () async throws -> Void) async throws {
    try await provideScope(
      for: try #require(Test.current), testCase: Test.Case.current, performing: body)
  }
}

@Suite(.ownCenter) struct OwnCenterTests {
  private static let seen = Collected<MulticastCenter>()

  @Test(arguments: 1...5)
  func eachTestCaseHasItsOwnCenter(_ number: Int) {
    let center = MulticastCenter.current
    #expect(center !== MulticastCenter.default)
    #expect(!Self.seen.all.contains { $0 === center })
    Self.seen.add(center)
  }

  @Test func tasksOfATestShareItsCenter() async {
    let center = MulticastCenter.current
    async let child = MulticastCenter.current
    let task = Task { MulticastCenter.current }
    let detached = Task.detached { MulticastCenter.current }
    #expect(await child === center)
    #expect(await task.value === center)
    #expect(await detached.value === MulticastCenter.default)
  }

  @Test func theSuiteIsCreatedWithTheCenterOfItsTest() {
    #expect(center === MulticastCenter.current)
  }

  let center = MulticastCenter.current
}

@Suite struct SharedCenterTests {
  @Test func theDefaultCenterIsCurrentWithoutTheTrait() {
    #expect(MulticastCenter.current === MulticastCenter.default)
  }

  @Test(.ownCenter) func aSingleTestCanHaveItsOwnCenter() {
    #expect(MulticastCenter.current !== MulticastCenter.default)
  }
}

private final class Leaking: Sendable {
  private let onDeinit: @Sendable () -> Void

  init(_ center: MulticastCenter, onDeinit: @escaping @Sendable () -> Void = {}) {
    self.onDeinit = onDeinit
    center.observe(Topic<Int>(), owner: self) { _, _ in extendLifetime(self) }
  }

  deinit { onDeinit() }
}

private final class LeakingWhileAwaiting: Sendable {
  init(_ center: MulticastCenter, _ begun: CheckedContinuation<Void, Never>) {
    center.observe(Topic<Int>(), owner: self) { _, _ in
      begun.resume()
      // So that it still runs when the handlers are about to end.
      for _ in 0..<100 { await Task.yield() }
      extendLifetime(self)
    }
  }
}

/// A handler on a queue that is suspended.
private struct Suspended {
  let center = MulticastCenter()
  private let owner = Pinged()
  private let queue = DispatchQueue(label: "suspended")

  init() {
    queue.suspend()
    center.observe(Topic<Int>(), owner: owner, on: queue) { _, _ in }
  }

  /// Call this at the end of the test, because a suspended queue that is deallocated stops the program.
  func end() {
    queue.resume()
    extendLifetime(owner)
  }
}

@Suite struct LeakCheckTests {
  /// Runs a test with a center of its own, and returns the issues that it recorded.
  private func issues(
    of ownCenter: OwnCenter = .ownCenter, _ body: @escaping @Sendable () -> Void
  ) async throws -> [Issue] {
    let test = try #require(Test.current)
    let issues = Collected<Issue>()
    let collecting = IssueHandlingTrait.filterIssues { issue in
      issues.add(issue)
      return false
    }
    try await collecting.provideScope(for: test, testCase: .current) {
      try await ownCenter.provideScope(for: test, testCase: .current) { body() }
    }
    return issues.all
  }

  @Test func aTestWithItsOwnCenterFailsForAnOwnerThatItsHandlerRetains() async throws {
    let issues = try await issues { _ = Leaking(.current) }
    #expect(issues.count == 1)
    #expect(issues[0].comments[0].rawValue.hasPrefix("Leaking was kept alive by its own handler"))
    #expect(issues[0].sourceLocation == Test.current?.sourceLocation)
  }

  /// The error reaches a test of XCTest, too.
  @Test func expectNoLeaksThrowsForAnOwnerThatItsHandlerRetains() async throws {
    let center = MulticastCenter()
    for _ in 0..<2 { _ = Leaking(center) }
    let error = await #expect(throws: LeakedOwners.self) { try await center.expectNoLeaks() }
    let lines = try #require(error).description.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.hasPrefix("Leaking was kept alive by its own handler") })
    // The first call has removed their handlers.
    try await center.expectNoLeaks()
  }

  /// While a handler that awaits runs, its task retains the owner.
  @Test func anOwnerIsFoundWhenItsAwaitingHandlerHasReturned() async {
    let center = MulticastCenter()
    await withCheckedContinuation { begun in
      _ = LeakingWhileAwaiting(center, begun)
      center.post(Topic<Int>(), 1)
    }
    let leaks = await center.leaks(within: .infinity)
    #expect(leaks.count == 1)
    // A method that awaits cannot be a handler, so the report does not suggest one.
    #expect(leaks.joined().contains("parameter instead of self. If"))
  }

  @Test func anOwnerThatAnotherObjectRetainsIsNotALeak() async throws {
    let held = Collected<Leaking>()
    #expect(try await issues { held.add(Leaking(.current)) }.isEmpty)
    #expect(held.all.count == 1)
  }

  // MARK: - Homes that do not run

  @Test func aTestWithItsOwnCenterNamesAHomeThatDoesNotRunAndLeavesItsHandlers() async throws {
    let (owner, queue) = (Pinged(), DispatchQueue(label: "suspended"))
    let (heard, centers) = (Numbers(), Collected<MulticastCenter>())
    queue.suspend()
    let issues = try await issues(of: OwnCenter(patience: 0)) {
      let center = MulticastCenter.current
      centers.add(center)
      for _ in 1...2 {
        center.observe(Topic<Int>(), owner: owner, on: queue) { _, number in heard.add(number) }
      }
    }
    #expect(issues.count == 1)
    let text = try #require(issues.first?.comments.first?.rawValue)
    #expect(text.hasPrefix("queue suspended did not run, so its handlers were not examined"))
    #expect(issues.first?.sourceLocation == Test.current?.sourceLocation)
    // What the end of the test has left on the queue ends no handler.
    queue.resume()
    await centers.all[0].post(Topic<Int>(), 1).delivered()
    #expect(heard.all == [1, 1])
    extendLifetime(owner)
  }

  @Test func aLeakIsFoundWhileAnotherHomeDoesNotRun() async {
    let suspended = Suspended()
    let (ended, end) = AsyncStream<Never>.makeStream()
    _ = Leaking(suspended.center, onDeinit: { end.finish() })
    let ending = Task { await suspended.center.endHandlers(within: .infinity) }
    for await _ in ended {}
    ending.cancel()
    let result = await ending.value
    #expect(result.leaks.count == 1)
    #expect(result.homesThatDidNotRun == ["queue suspended"])
    suspended.end()
  }

  @Test func expectNoLeaksThrowsForAHomeThatDoesNotRun() async {
    let suspended = Suspended()
    let leaks = await suspended.center.leaks(within: 0)
    #expect(leaks.count == 1 && leaks[0].hasPrefix("queue suspended did not run"))
    // A cancelled check finds out nothing about the home.
    let check = Task { try await suspended.center.expectNoLeaks() }
    check.cancel()
    await #expect(throws: CancellationError.self) { try await check.value }
    suspended.end()
  }
}
