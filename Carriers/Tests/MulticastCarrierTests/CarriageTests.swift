import Crypto
import Dispatch
import Foundation
import InMemoryTracing
import Metrics
import MetricsTestKit
import Multicast
import MulticastCarrierTesting
import Testing
import Tracing

@testable import MulticastCarrier

/// A carrier that calls a test's hooks.
private final class HookedCarrier: Carrier, Registry {
  typealias Append = @Sendable ([UInt8], Log) async throws -> Void
  /// Returns whether the answer is empty.
  typealias Read = @Sendable (Log) async throws -> Bool
  private let inner: InMemoryCarrier
  private let hooks = Locked<(append: Append?, read: Read?)>((nil, nil))
  /// The identifiers of the records, in order.
  let ids = Locked<[UInt64]>([])
  /// The limits of the reads of topics of events.
  let limits = Locked<[Int]>([])
  /// How often the end of each log was asked for.
  let ends = Locked<[Log: Int]>([:])
  /// Gates at which the next questions for an end wait.
  let endGates = Gates()
  private let end: Gate?
  private let onRelease: @Sendable () -> Void

  /// - Parameters:
  ///   - end: A gate at which `close()` waits.
  ///   - onRelease: Called before a log is released.
  init(
    _ engine: InMemoryCarrier.Engine, append: Append? = nil, read: Read? = nil, end: Gate? = nil,
    onRelease: @escaping @Sendable () -> Void = {}
  ) {
    (inner, self.end, self.onRelease) = (InMemoryCarrier(engine), end, onRelease)
    hooks.withLock { $0 = (append, read) }
  }

  func unhook() { hooks.withLock { $0 = (nil, nil) } }
  var recordLimit: Int { inner.recordLimit }
  func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position {
    ids.withLock { $0.append(id) }
    try await hooks.withLock { $0.append }?(record, log)
    return try await inner.append(record, to: log, id: id)
  }
  func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    if !log.keepsLatest { limits.withLock { $0.append(limit) } }
    if try await hooks.withLock({ $0.read })?(log) == true { return [] }
    return try await inner.read(log, after: position, limit: limit)
  }
  func end(of log: Log) async throws -> Position {
    ends.withLock { $0[log, default: 0] += 1 }
    await endGates.pass()
    return try await inner.end(of: log)
  }
  func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    try await inner.isComplete(log, since: position)
  }
  func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool) {
    try await hooks.withLock { $0.append }?([], Log(prefix: prefix, type: name, keepsLatest: false))
    return try await inner.register(value, as: name, in: prefix, expiry: expiry)
  }
  func release(_ log: Log) {
    onRelease()
    inner.release(log)
  }
  func close() async {
    await end?.pass()
    await inner.close()
  }
}

extension Locked where State == Int {
  /// Counts, and returns the count.
  fileprivate func next() -> Int {
    withLock { count in
      count += 1
      return count
    }
  }
}

/// A gate that is closed until it is opened.
private final class Gate: Sendable {
  private let state = Locked<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>(
    (false, []))
  func pass() async {
    await withCheckedContinuation { done in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(done) }
        return state.isOpen
      }
      if isOpen { done.resume() }
    }
  }
  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for done in waiting { done.resume() }
  }
}

/// Lets the next calls wait, each at a gate of its own.
private final class Gates: Sendable {
  private let state = Locked((gates: [Gate](), arrived: 0))

  /// The number of calls that have arrived at a gate.
  var arrived: Int { state.withLock { $0.arrived } }

  func put(_ gates: Gate...) { state.withLock { $0.gates = gates } }

  func pass() async {
    let gate: Gate? = state.withLock { state in
      guard !state.gates.isEmpty else { return nil }
      state.arrived += 1
      return state.gates.removeFirst()
    }
    await gate?.pass()
  }
}

private func limits(
  messages: Int = 200_000, bytes: Int = 16 << 20, closing: Duration = .seconds(1_000_000)
) -> Carriage.Limits {
  var limits = Carriage.Limits()
  (limits.waitingMessages, limits.waitingBytes, limits.closing) = (messages, bytes, closing)
  return limits
}

@Suite(.timeLimit(.minutes(10))) struct CarriageTests {
  private let engine = InMemoryCarrier.Engine()
  private func site(
    _ name: String, limits: Carriage.Limits = .init(), keys: [SymmetricKey?] = [nil]
  ) -> Site {
    Site(InMemoryCarrier(engine), name, limits: limits, keys: keys)
  }

  @Test func conforms() async throws {
    let broken = try await CarrierConformance { [engine] in InMemoryCarrier(engine) }.check()
    #expect(broken.isEmpty)
    let conformance = CarrierConformance { [engine] in InMemoryCarrier(engine) }
    let restarted = try await conformance.check(restart: {
      engine.isDown = true
      engine.isDown = false
    })
    #expect(restarted.isEmpty)
    let emptied = try await CarrierConformance { [engine] in InMemoryCarrier(engine) }.check(
      empty: {
        engine.empty()
      })
    #expect(emptied.isEmpty)
    let saved = Locked<InMemoryCarrier.Engine.Saved?>(nil)
    let restored = try await CarrierConformance { [engine] in InMemoryCarrier(engine) }.check(
      save: { saved.withLock { $0 = engine.save() } },
      restore: { if let saved = saved.withLock({ $0 }) { engine.restore(saved) } })
    #expect(restored.isEmpty)
  }

  @Test func allPeopleReceiveEachMessageOnceInOrder() async throws {
    let sites = ["one", "two", "three", "four"].map { site($0) }
    try await withSites(sites[0], sites[1], sites[2], sites[3]) {
      for site in sites { site.post(1...500) }
      for site in sites {
        let seen = await site.until { $0.heard["note"]?.count ?? 0 >= 2_000 }
        for other in sites { #expect(seen.notes(of: other.name) == Array(1...500)) }
      }
      // All receive the others' messages in one order, that of the log. Own messages are local first.
      let orders = sites.prefix(2).map { site in
        site.seen.heard["note"]?.filter { $0.sender == "three" || $0.sender == "four" } ?? []
      }
      #expect(orders[0].count == 1_000 && orders[0] == orders[1])
    }
    for site in sites { #expect(site.seen.heard["note"]?.count == 2_000, "No echo.") }
  }

  /// Counts appends and reads alone. Each process also asks for the end of each log once a second, and a slow machine takes
  /// more seconds.
  @Test func aBurstSharesRecordsAndAMessageIsAppendedAndReadOnce() async throws {
    let (calls, gate) = (Locked((appends: 0, reads: 0)), Gate())
    let sites = ["one", "two"].map { name in
      let append: HookedCarrier.Append = { _, _ in
        calls.withLock { $0.appends += 1 }
        await gate.pass()
      }
      let read: HookedCarrier.Read = { _ in
        calls.withLock { $0.reads += 1 }
        return false
      }
      return Site(HookedCarrier(engine, append: append, read: read), name)
    }
    let (one, two) = (sites[0], sites[1])
    try await withSites(one, two) {
      one.post(1...9_999)
      await one.center.post(.note, Note("one", 10_000)).delivered()
      gate.open()
      await two.until { $0.notes(of: "one").count >= 10_000 }
      await one.until { $0.state?.sent == 10_000 }
      let burst = calls.withLock { $0 }
      // One of any size, for which the others have waited, and 20 of up to 500 messages.
      #expect(burst.appends <= 21, "\(burst.appends)")
      await eventually {
        sites.allSatisfy { $0.carriage.position(of: "note")?.number == UInt64(burst.appends) }
      }
      let before = calls.withLock { $0.reads }
      // One after the other. Each process reads each record, and may have begun to wait for the next one.
      for number in 10_001...10_200 {
        one.post(CollectionOfOne(number))
        await two.until { $0.notes(of: "one").last == number }
      }
      let all = calls.withLock { $0 }
      #expect(all.appends - burst.appends == 200)
      #expect(all.reads - before <= 2 * (200 + 1), "\(all.reads - before)")
    }
  }

  @Test func noCarriageAsksTheEngineWhileNothingHappens() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      one.post(1...1)
      await two.until { $0.notes(of: "one").count == 1 }
      await two.until { $0.state?.received == 1 }
      let before = engine.commands
      // Long enough for several questions of a carriage that asks once a second, for each of its topics.
      try await Task.sleep(for: .seconds(4))
      #expect(engine.commands - before <= 8)
    }
  }

  /// In a process of its own, because other tests have threads, too.
  @Test func manyActiveTopicsShareTheirThreads() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let one = Site(InMemoryCarrier(), "one") { carriage in
        for number in 0..<2_000 { carriage.carry(Topic<Int>("t\(number)"), as: "t\(number)") }
      }
      await one.start(topics: 2_000)
      var most = threads
      for round in 1...3 {
        for number in 0..<2_000 { one.center.post(Topic<Int>("t\(number)"), round) }
        await eventually {
          most = max(most, threads)
          return one.carriage.condition.sent == UInt64(round * 2_000)
        }
      }
      await one.stop()
      print("threads: \(most)")
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    // Swift and Dispatch have some threads for each processor.
    let limit = 4 * ProcessInfo.processInfo.activeProcessorCount + 8
    let most = output.firstMatch(of: /threads: ([0-9]+)/).flatMap { Int($0.1) }
    #expect(most ?? .max <= limit)
  }

  // MARK: What waits

  @Test func messagesPostedWithoutAnEngineArriveLater() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      engine.isDown = true
      one.post(1...1_000)
      await one.until { seen in
        seen.reports.contains { if case .disconnected = $0 { true } else { false } }
      }
      // A site that has received the report may not have received all posts yet.
      await eventually { one.carriage.condition.waitingMessages == 1_000 }
      #expect(two.seen.notes(of: "one").isEmpty)
      engine.isDown = false
      let seen = await two.until { $0.notes(of: "one").count >= 1_000 }
      #expect(seen.notes(of: "one") == Array(1...1_000) && seen.missing == 0)
    }
  }

  /// Right after a post, a message may not count yet.
  @Test func aDeliveredMessageCountsAsWaiting() async throws {
    let gate = Gate()
    let carrier = HookedCarrier(engine, append: { _, _ in await gate.pass() })
    let one = Site(carrier, "one", limits: limits())
    try await withSites(one) {
      for number in 1...100 {
        await one.center.post(.note, Note("one", number)).delivered()
        #expect(one.carriage.condition.waitingMessages == number)
      }
      gate.open()
    }
    #expect(one.carriage.condition.sent == 100, "close() sends the waiting messages.")
  }

  @Test func messagesThatTheOutboxRefusesAreReportedAndStayHere() async throws {
    let (one, two) = (site("one", limits: limits(messages: 100)), site("two"))
    try await withSites(one, two) {
      engine.isDown = true
      one.post(1...1_000)
      // Those of a second are in one report.
      await one.until { seen in
        seen.reports.reduce(0) {
          if case .kept("note", .full, let count) = $1 { $0 + count } else { $0 }
        } == 900
      }
      #expect(one.carriage.condition.waitingMessages == 100)
      await one.until { $0.notes(of: "one") == Array(1...1_000) }
      engine.isDown = false
      await two.until { $0.notes(of: "one") == Array(1...100) }
      one.post(1_001...1_001)
      await two.until { $0.notes(of: "one").last == 1_001 }
      // Messages that never left are not missing.
      #expect(two.carriage.condition.missing == 0)
    }
  }

  @Test func aPostWaitsForRoom() async throws {
    let (one, two) = (site("one", limits: limits(messages: 2)), site("two"))
    try await withSites(one, two) {
      engine.isDown = true
      for number in 1...2 { try await one.carriage.post(.note, Note("one", number)) }
      let third = Task { try await one.carriage.post(.note, Note("one", 3)) }
      let cancelled = Task { try await one.carriage.post(.note, Note("one", 4)) }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      engine.isDown = false
      try await third.value
      await two.until { $0.notes(of: "one") == [1, 2, 3] }
      #expect(!one.seen.notes(of: "one").contains(4), "A refused message reaches no handler.")
      await #expect(throws: CarrierError.notCarried) {
        try await one.carriage.post(Topic<Int>("unknown"), 1)
      }
    }
    await #expect(throws: CarrierError.closed) {
      try await one.carriage.post(.note, Note("one", 5))
    }
  }

  /// There, the post cannot wait for all handlers. It waits until the carriage has heard the message.
  @Test func aPostInAHandlerOfItsTopicLeaves() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      let home = try #require(one.carriage.state.withLock { $0.lines["note"]?.home.queue })
      let (mayHear, done) = (DispatchSemaphore(value: 0), Gate())
      let (posting, begins) = AsyncStream<Void>.makeStream()
      let errors = Locked<[any Error]>([])
      one.center.observe(.note, owner: one) { one, note in
        if note.number > 1 { return }
        begins.finish()
        do {
          try await one.carriage.post(.note, Note("one", 2))
        } catch {
          errors.withLock { $0.append(error) }
        }
        done.open()
      }
      home.async { mayHear.wait() }
      one.post(1...1)
      for await _ in posting {}
      // So that the post has returned by now if it does not wait.
      for _ in 0..<1_000 { await Task.yield() }
      mayHear.signal()
      await done.pass()
      #expect(errors.withLock { $0.isEmpty })
      await two.until { $0.notes(of: "one") == [1, 2] }
    }
  }

  /// Otherwise each of the two types would carry what has come in for the other one, again and again.
  @Test func aTopicIsCarriedAsOneType() async throws {
    let one = site("one")
    try await withSites(one) {
      one.carriage.carry(.note, as: "again")
      await one.until { seen in
        seen.reports.contains { if case .refused("again", _) = $0 { true } else { false } }
      }
      try await one.carriage.post(.note, Note("one", 1))
    }
  }

  /// Nested types often have one name.
  @Test func topicsOfTypesWithOneNameAreTwo() async throws {
    enum Cart { struct Changed: Codable, Sendable {} }
    enum Order { struct Changed: Codable, Sendable {} }
    let one = Site(InMemoryCarrier(engine), "one") { carriage in
      carriage.carry(Topic<Cart.Changed>(), as: "cart")
      carriage.carry(Topic<Order.Changed>(), as: "order")
    }
    await one.start(topics: 2)
    try await one.carriage.post(Topic<Cart.Changed>(), Cart.Changed())
    try await one.carriage.post(Topic<Order.Changed>(), Order.Changed())
    await one.until { $0.state?.sent == 2 }
    await one.stop()
  }

  @Test func postsHaveRoomInTheOrderInWhichTheyWait() async throws {
    let (one, two) = (site("one", limits: limits(messages: 1)), site("two"))
    try await withSites(one, two) {
      engine.isDown = true
      try await one.carriage.post(.note, Note("one", 1))
      var posts: [Task<Void, any Error>] = []
      for number in 2...30 {
        posts.append(Task { try await one.carriage.post(.note, Note("one", number)) })
        await eventually { one.carriage.state.withLock { $0.outbox.queue.count } == number - 1 }
      }
      for number in [2, 10, 30] {
        posts[number - 2].cancel()
        await #expect(throws: CancellationError.self) { try await posts[number - 2].value }
      }
      engine.isDown = false
      let numbers = (1...30).filter { ![2, 10, 30].contains($0) }
      await two.until { $0.notes(of: "one") == numbers }
      let own = await one.until { $0.notes(of: "one").count >= numbers.count }
      #expect(own.notes(of: "one") == numbers)
    }
  }

  @Test func aPostThatNeverHasRoomDoesNotWait() async throws {
    let one = site("one", limits: limits(bytes: 1_000))
    try await withSites(one) {
      await #expect(throws: CarrierError.self) {
        try await one.carriage.post(.note, Note("one", 1, String(repeating: "x", count: 1_000)))
      }
      try await one.carriage.post(.note, Note("one", 2))
    }
  }

  @Test func aPostThatWaitsForRoomThrowsAtTheEnd() async throws {
    let one = site("one", limits: limits(messages: 1))
    await one.start()
    engine.isDown = true
    try await one.carriage.post(.note, Note("one", 1))
    let waiting = Task { try await one.carriage.post(.note, Note("one", 2)) }
    await one.until { seen in
      seen.reports.contains { if case .disconnected = $0 { true } else { false } }
    }
    await one.stop()
    await #expect(throws: CarrierError.self) { try await waiting.value }
    await one.until { $0.reports.contains(.kept(type: "note", reason: .closed, count: 1)) }
    #expect(one.carriage.condition.connection == .closed)
  }

  @Test func theEndSendsTheWaitingMessages() async throws {
    let two = site("two")
    try await withSites(two) {
      for round in 0..<5 {
        let one = site("one")
        await one.start()
        one.post((1 + 1_000 * round)...(1_000 + 1_000 * round))
        await one.stop()
        one.post(0...0)
        await one.until { $0.notes(of: "one").last == 0 }
      }
      await two.until { $0.notes(of: "one") == Array(1...5_000) }
    }
  }

  /// A site whose engine stores nothing before the gate is open. At its end, it waits for its messages to leave.
  private func ending(_ gate: Gate, _ limits: Carriage.Limits) async -> (Site, Task<Void, Never>) {
    let one = Site(
      HookedCarrier(engine, append: { _, _ in await gate.pass() }), "one", limits: limits)
    await one.start()
    one.post(1...2)
    // Otherwise, the end might come before the carriage has heard them.
    await one.center.post(.note, Note("one", 3)).delivered()
    let end = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await one.carriage.close()
    }
    await eventually { one.carriage.state.withLock { !$0.closing.isEmpty } }
    return (one, end)
  }

  @Test func theEndWaitsUntilAllHasLeft() async throws {
    let (two, gate) = (site("two"), Gate())
    try await withSites(two) {
      let (one, end) = await ending(gate, limits())
      #expect(one.carriage.condition.waitingMessages == 3)
      gate.open()
      await end.value
      #expect(one.carriage.condition.sent == 3)
      await two.until { $0.notes(of: "one") == [1, 2, 3] }
    }
  }

  /// A job may post and end before the engine has answered for the first time.
  @Test func theEndWaitsForTheFirstAnswerOfTheEngine() async throws {
    let gate = Gate()
    let one = Site(
      HookedCarrier(engine, append: { _, _ in await gate.pass() }), "one", limits: limits())
    one.post(1...3)
    let end = Task { await one.carriage.close() }
    await eventually { one.carriage.state.withLock { !$0.closing.isEmpty } }
    #expect(one.carriage.state.withLock { $0.takeReady().isEmpty })
    gate.open()
    await end.value
    #expect(one.carriage.condition.sent == 3)
  }

  @Test func theEndDoesNotWaitForAnEngineThatIsGone() async throws {
    let gate = Gate()
    let (one, end) = await ending(gate, limits())
    engine.isDown = true
    gate.open()
    await end.value
    await one.until { $0.reports.contains(.kept(type: "note", reason: .closed, count: 3)) }
  }

  /// The sender pauses, and does not know yet that the engine is back.
  @Test func theEndWaitsForOneMoreAttempt() async throws {
    let attempts = Locked(0)
    let carrier = HookedCarrier(
      engine,
      append: { _, _ in
        _ = attempts.next()
        throw CarrierError.disconnected("It is down.")
      })
    let one = Site(carrier, "one", limits: limits()) { $0.carry(.note, as: "note") }
    await one.start(topics: 1)
    one.post(1...3)
    await eventually { attempts.withLock { $0 } >= 6 }
    // When it has noted one more answer, it is in a pause, which is longer than what follows.
    one.carriage.state.withLock { $0.hasAnswered = false }
    await eventually { one.carriage.state.withLock { $0.hasAnswered } }
    carrier.unhook()
    await one.carriage.close()
    #expect(one.carriage.condition.sent == 3)
    await one.close()
  }

  @Test func theEndDoesNotWaitLongerThanItsLimit() async throws {
    let gate = Gate()
    let (one, end) = await ending(gate, limits(closing: .zero))
    await end.value
    await one.until { $0.reports.contains(.kept(type: "note", reason: .closed, count: 3)) }
    gate.open()
  }

  @Test func theEndDoesNotWaitForACarrierThatDoesNotClose() async throws {
    let gate = Gate()
    let site = Site(
      HookedCarrier(engine, end: gate), "one", limits: limits(closing: .milliseconds(10)))
    await site.start()
    await site.close()
    #expect(site.carriage.condition.connection == .closed)
    gate.open()
  }

  /// A sender that pauses after a failure would keep the carriage for up to 30 seconds.
  @Test func theEndCancelsTheSenders() async throws {
    let one = site("one")
    await one.start()
    engine.isDown = true
    one.post(1...3)
    let line = try #require(one.carriage.state.withLock { $0.lines["note"] })
    await one.until { seen in
      seen.reports.contains { if case .disconnected = $0 { true } else { false } }
    }
    // The reader may have reported that before the posts have reached the home of the line.
    await eventually { line.own.sender.withLock { $0 != nil } }
    let sender = try #require(line.own.sender.withLock { $0 })
    #expect(!sender.isCancelled)
    await one.stop()
    #expect(sender.isCancelled)
    await sender.value
    await one.until { $0.reports.contains(.kept(type: "note", reason: .closed, count: 3)) }
  }

  // MARK: What cannot be carried

  /// A carrier that takes less than its limit says, as a stream with `max_msg_size` does.
  private var smallCarrier: HookedCarrier {
    HookedCarrier(
      engine,
      append: { record, _ in
        if record.count > 2_000 { throw CarrierError.tooLarge(bytes: record.count, limit: 2_000) }
      })
  }

  @Test func tooLargeMessagesAreReportedAndTheOthersArrive() async throws {
    let carrier = smallCarrier
    let (one, two) = (Site(carrier, "one"), site("two"))
    try await withSites(one, two) {
      engine.isDown = true
      one.post(1...1)
      await one.until { seen in
        seen.reports.contains { if case .disconnected = $0 { true } else { false } }
      }
      one.post(2...99)
      one.center.post(.note, Note("one", 100, String(repeating: "x", count: 3_000)))
      one.post(101...200)
      engine.isDown = false
      let seen = await two.until { $0.notes(of: "one").count >= 199 }
      #expect(seen.notes(of: "one") == Array(1...99) + Array(101...200))
      await one.until { seen in
        seen.reports.contains {
          if case .kept("note", .tooLarge(_, 2_000), 1) = $0 { true } else { false }
        }
      }
      // The receiver gets a report, too.
      await two.until { $0.missing == 1 }
      // A record that is too large for every engine is reported immediately.
      one.center.post(.note, Note("one", 0, String(repeating: "x", count: 2 << 20)))
      await one.until { seen in
        seen.reports.contains {
          if case .kept("note", .tooLarge(let bytes, _), 1) = $0 { bytes > 2 << 20 } else { false }
        }
      }
      await #expect(throws: CarrierError.self) {
        try await one.carriage.post(
          .note, Note("one", 0, String(repeating: "x", count: 2 << 20)))
      }
    }
  }

  /// The center has delivered an own message that the engine refused, so nothing is missing here.
  @Test func noOwnMessageIsMissing() async throws {
    let carrier = smallCarrier
    let (one, two) = (Site(carrier, "one"), site("two"))
    try await withSites(one, two) {
      for (number, size) in [(1, 1), (2, 3_000), (3, 1)] {
        await one.center.post(
          .note, Note("one", number, String(repeating: "x", count: size))
        ).delivered()
        await eventually { one.carriage.condition.waitingMessages == 0 }
      }
      await two.until { $0.notes(of: "one") == [1, 3] }
      let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
      // Each check of the log asks for its end, if something was read since the one before.
      for _ in 1...3 {
        let ends = carrier.ends.withLock { $0[log] }
        await eventually {
          two.post(1...1)
          return carrier.ends.withLock { $0[log] } != ends
        }
      }
    }
    #expect(one.seen.missing == 0)
  }

  @Test func aMessageWithALongKeyOfMetadataIsReportedAndTheOthersArrive() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      let metadata = [String(repeating: "k", count: 257): ""]
      ServiceContext.withValue(CarriageContext.with(metadata: metadata)) { one.post(1...1) }
      one.post(2...3)
      await two.until { $0.notes(of: "one") == [2, 3] }
      await one.until { seen in
        seen.reports.contains {
          if case .kept("note", .notEncodable, 1) = $0 { true } else { false }
        }
      }
    }
  }

  /// Contains a line break, as the error about a forged record may.
  private struct Odd: Error, CustomStringConvertible { let description = "odd\nline" }
  /// Throws if it encodes a 3 or decodes a 5, and returns no message for a 6.
  private struct OddCodec: MessageCodec {
    let seen: @Sendable () -> Void
    func encode(_ number: Int, into bytes: inout [UInt8]) throws {
      seen()
      if number == 3 { throw Odd() }
      bytes.append(UInt8(number))
    }
    func decode(_ bodies: [ArraySlice<UInt8>]) throws -> [Int] {
      seen()
      return try bodies.compactMap { bytes in
        guard let first = bytes.first, first != 5 else { throw Odd() }
        return first == 6 ? nil : Int(first)
      }
    }
  }

  @Test func messagesThatTheCodecRefusesAreReportedAndNoLockIsHeld() async throws {
    let topic = Topic<Int>("odd")
    func site(_ name: String) -> Site {
      let box = Locked<Carriage?>(nil)
      let site = Site(InMemoryCarrier(engine), name) { carriage in
        box.withLock { $0 = carriage }
        // Would wait forever under a lock.
        let look: @Sendable () -> Void = { [weak carriage] in
          _ = carriage?.condition
          _ = carriage?.position(of: "odd")
        }
        carriage.carry(topic, as: "odd", codec: OddCodec(seen: look))
      }
      site.center.observe(.carriage, owner: site) { site, _ in _ = site.carriage.condition }
      return site
    }
    let (one, two) = (site("one"), site("two"))
    let numbers = Locked<[Int]>([])
    let done = Gate()
    two.center.observe(topic, owner: two) { _, number in
      numbers.withLock { $0.append(number) }
      if number == 9 { done.open() }
    }
    for site in [one, two] { await site.start(topics: 1) }
    for number in 1...9 { one.center.post(topic, number) }
    await done.pass()
    #expect(numbers.withLock { $0 } == [1, 2, 4, 7, 8, 9])
    await one.until { seen in
      seen.reports.contains {
        if case .kept("odd", .notEncodable, 1) = $0 { true } else { false }
      }
    }
    for reason in [
      #"It cannot be decoded: "odd\nline""#, "Its codec does not make one message of it.",
    ] {
      await two.until { seen in
        seen.reports.contains(.skipped(type: "odd", reason: reason, count: 1))
      }
    }
    for site in [one, two] { await site.stop() }
    #expect(two.carriage.condition.received == 6, "A skipped message was not received.")
  }

  @Test func aVersionThatIsTooNewIsSkipped() async throws {
    let one = Site(InMemoryCarrier(engine), "one") {
      $0.carry(.note, as: "note", version: 3)
      $0.carry(.other, as: "other", version: 3, oldestReader: 1)
    }
    let two = Site(InMemoryCarrier(engine), "two") {
      $0.carry(.note, as: "note")
      $0.carry(.other, as: "other")
    }
    for site in [one, two] { await site.start(topics: 2) }
    one.post(1...3)
    one.post(1...3, to: .other)
    await two.until { $0.notes(of: "one", in: "other") == [1, 2, 3] }
    await two.until { seen in
      seen.reports.reduce(0) {
        if case .skipped("note", let reason, let count) = $1, reason.contains("3") {
          $0 + count
        } else {
          $0
        }
      } == 3
    }
    #expect(two.seen.notes(of: "one").isEmpty)
    for site in [one, two] { await site.stop() }
  }

  @Test func aNameThatIsTooLongIsReported() async throws {
    let long = String(repeating: "ä", count: 40)
    let one = Site(InMemoryCarrier(engine), "one") { $0.carry(.other, as: "other") }
    one.carriage.carry(.note, as: long)
    await one.until { seen in
      seen.reports.contains { if case .refused(long, _) = $0 { true } else { false } }
    }
    await #expect(throws: CarrierError.notCarried) {
      try await one.carriage.post(.note, Note("one", 1))
    }
  }

  @Test func aRefusedTopicDelaysNoOther() async throws {
    let carrier = HookedCarrier(
      engine,
      append: { _, log in if log.type == "note" { throw CarrierError.refused("no room") } },
      read: { log in
        if log.type == "last" { throw CarrierError.refused("no right") }
        return false
      })
    let (one, two) = (Site(carrier, "one"), site("two"))
    try await withSites(one, two) {
      one.post(1...10)
      one.post(1...1_000, to: .other)
      await two.until { $0.notes(of: "one", in: "other").count == 1_000 }
      let refused = CarriageReport.refused(type: "note", reason: "no room")
      let state = await one.until { seen in
        seen.state?.refusals == ["note": "no room", "last": "no right"]
          && seen.reports.contains(refused)
      }.state
      #expect(state?.connection == .connected && state?.isWell == false)
      carrier.unhook()
      await two.until { $0.notes(of: "one") == Array(1...10) }
      // It reads again when there are new records.
      two.post(1...1, to: .last)
      await one.until { $0.state?.isWell == true }
      // Reported once, however often it was refused.
      #expect(one.seen.reports.filter { $0 == refused }.count == 1)
    }
    #expect(!one.seen.reports.contains { if case .disconnected = $0 { true } else { false } })
  }

  /// The same one, so that the engine stores a record only once. Another one after a refusal, because another client may have used
  /// it before.
  @Test func aRecordThatIsSentAgainHasItsIdentifier() async throws {
    let calls = Locked(0)
    let carrier = HookedCarrier(
      engine,
      append: { _, _ in
        let call = calls.next()
        if call < 3 { throw CarrierError.disconnected("lost") }
        if call < 4 { throw CarrierError.refused("repeated") }
      })
    let (one, two) = (Site(carrier, "one"), site("two"))
    try await withSites(one, two) {
      for number in 1...3 {
        one.post(number...number)
        await two.until { $0.notes(of: "one").last == number }
      }
    }
    let ids = carrier.ids.withLock(\.self)
    try #require(ids.count == 6)
    #expect(ids[0] == ids[1] && ids[1] == ids[2])
    #expect(Set(ids[2...]).count == 4)
  }

  // MARK: What comes in

  @Test func aStuckHandlerDelaysOnlyItsOwnTopic() async throws {
    let (one, two) = (site("one"), site("two"))
    let gate = Gate()
    let owner = Gate()
    two.center.observe(.note, owner: owner, awaiting: gate)
    try await withSites(one, two) {
      one.post(1...1)
      await two.until { $0.notes(of: "one") == [1] }
      for number in 2...3_000 { one.post(CollectionOfOne(number)) }
      one.post(1...10, to: .other)
      await two.until { $0.notes(of: "one", in: "other").count == 10 }
      // It reads no further than its handlers have returned.
      #expect(two.seen.notes(of: "one") == [1])
      gate.open()
      await two.until { $0.notes(of: "one") == Array(1...3_000) }
      #expect(two.carriage.condition.missing == 0)
    }
  }

  @Test func theEndDoesNotWaitForAStuckHandler() async throws {
    let (one, two) = (site("one"), site("two"))
    let gate = Gate()
    two.center.observe(.note, owner: gate, awaiting: gate)
    for site in [one, two] { await site.start() }
    one.post(1...10)
    await two.until { !$0.notes(of: "one").isEmpty }
    await two.stop()
    await one.stop()
    gate.open()
  }

  @Test func messagesThatTheLogDroppedAreReportedWithTheirCount() async throws {
    let engine = InMemoryCarrier.Engine(length: 5)
    let one = Site(InMemoryCarrier(engine), "one")
    let two = Site(InMemoryCarrier(engine), "two")
    let gate = Gate()
    let owner = Gate()
    two.center.observe(.note, owner: owner, awaiting: gate)
    try await withSites(one, two) {
      for number in 1...200 {
        one.post(CollectionOfOne(number))
        // One record for each message.
        await one.until { $0.notes(of: "one").count == number }
        await eventually { one.carriage.condition.waitingMessages == 0 }
      }
      gate.open()
      let seen = await two.until { seen in
        seen.notes(of: "one").last == 200
          && UInt64(seen.notes(of: "one").count) + seen.missing == 200
      }
      let numbers = seen.notes(of: "one")
      #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
      #expect(numbers.count < 200)
    }
  }

  @Test func aLogThatBeganAgainIsReported() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      one.post(1...5)
      one.post(1...2, to: .last)
      await two.until {
        $0.notes(of: "one").count == 5 && $0.notes(of: "one", in: "last").last == 2
      }
      engine.empty()
      for site in [one, two] {
        await site.until {
          $0.reports.contains(.beganAnew(type: "note"))
            && $0.reports.contains(.beganAnew(type: "last"))
        }
      }
      one.post(6...10)
      await two.until { $0.notes(of: "one") == Array(1...10) }
      // A site that starts now receives the latest value.
      let three = site("three")
      await three.start()
      await three.until { $0.notes(of: "one", in: "last").last == 2 }
      await three.stop()
    }
  }

  /// A busy topic never has an empty answer, and its reader loses many connections in the life of its process.
  @Test func aReaderThatHasLostConnectionsReadsManyRecordsAgain() async throws {
    let reads = Locked(0)
    let carrier = HookedCarrier(
      engine,
      read: { _ in
        if reads.next() <= 6 { throw CarrierError.disconnected("lost") }
        return false
      })
    let one = site("one")
    let two = Site(carrier, "two") { $0.carry(.note, as: "note") }
    for site in [one, two] { site.run() }
    await one.until { $0.began == 3 }
    await two.until { $0.began == 1 }
    for number in 1...40 {
      one.post(number...number)
      await two.until { $0.notes(of: "one").last == number }
    }
    #expect(carrier.limits.withLock { $0.prefix(7) } == [32, 16, 8, 4, 2, 1, 1])
    #expect(carrier.limits.withLock { $0.last } == 32)
    for site in [one, two] { await site.stop() }
  }

  /// The log loses its end, so it is read again, and repeats what another process had posted before this one began.
  @Test(arguments: [false, true])
  func aLogThatIsReadAgainRepeatsNothingFromBeforeTheBeginning(_ isRestarted: Bool) async throws {
    let (zero, one) = (site("zero"), site("one"))
    var two = site("two")
    for site in [zero, one, two] { await site.start() }
    zero.post(1...3)
    await two.until { $0.notes(of: "zero") == [1, 2, 3] && $0.state?.received == 3 }
    await two.stop()
    let place = try #require(two.carriage.position(of: "note"))
    await zero.stop()
    let saved = engine.save()
    two = Site(InMemoryCarrier(engine), "two", from: isRestarted ? .after(place) : .end)
    await two.start()
    one.post(1...2)
    await two.until { $0.notes(of: "one") == [1, 2] }
    engine.restore(saved)
    await two.until { $0.reports.contains(.beganAnew(type: "note")) }
    one.post(3...3)
    let seen = await two.until { $0.notes(of: "one").last == 3 }
    #expect(seen.notes(of: "one") == [1, 2, 3])
    #expect(seen.notes(of: "zero") == [])
    for site in [one, two] { await site.stop() }
  }

  /// The store is restored from a time before this process began. Then the engine gives the numbers of lost records to new ones.
  @Test func newRecordsWithOldNumbersAreReceived() async throws {
    let zero = site("zero")
    await zero.start()
    let saved = engine.save()
    for number in 1...3 {
      zero.post(number...number)
      await eventually { zero.carriage.condition.sent == UInt64(number) }
    }
    await zero.stop()
    let two = site("two")
    await two.start()
    engine.restore(saved)
    await two.until { $0.reports.contains(.beganAnew(type: "note")) }
    try await two.carriage.post(.note, Note("two", 1))
    // When the carriage has read its own record, it has reached the end of the log.
    await eventually { two.carriage.position(of: "note")?.number == 1 }
    let one = site("one")
    await one.start()
    one.post(1...1)
    await two.until { $0.notes(of: "one") == [1] }
    for site in [one, two] { await site.stop() }
  }

  /// A server that ends a consumer answers with nothing, although there are more records.
  @Test func anEmptyAnswerDoesNotEndAReReading() async throws {
    let one = site("one")
    // Every second answer is empty once the log has lost its end. An answer has at most 32 of the 60 records.
    let reads = Locked<Int?>(nil)
    let two = Site(
      HookedCarrier(
        engine,
        read: { log in
          guard log.type == "note" else { return false }
          return reads.withLock { reads in
            reads = reads.map { $0 + 1 }
            return reads.map { $0 % 2 == 1 } ?? false
          }
        }), "two")
    try await withSites(one, two) {
      for number in 1...60 {
        one.post(number...number)
        await two.until { $0.notes(of: "one").last == number }
      }
      let saved = engine.save()
      one.post(61...61)
      await two.until { $0.notes(of: "one").last == 61 }
      reads.withLock { $0 = 0 }
      engine.restore(saved)
      await two.until { $0.reports.contains(.beganAnew(type: "note")) }
      one.post(62...62)
      let seen = await two.until { $0.notes(of: "one").last == 62 }
      #expect(seen.notes(of: "one") == Array(1...62))
    }
  }

  @Test func foreignAndForgedRecordsLoseNoMessage() async throws {
    let (one, two) = (site("one"), site("two"))
    let stranger = InMemoryCarrier(engine)
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    try await withSites(one, two) {
      one.post(1...10)
      await two.until { $0.notes(of: "one").count == 10 }
      let end = try await stranger.end(of: log)
      let real = try await stranger.read(
        log, after: Position(epoch: end.epoch, number: 0), limit: 100)
      let frame = try Frame(try #require(real.first).bytes, from: log)
      var random = SplitMix(seed: 3)
      for round in 0..<300 {
        let first = [1, 11, 12, 500, 1 << 61, 1 + random.next() % 1_000][random.below(6)]
        let item = Frame.item(hops: 0, [:]) { $0 += Array("\(round)".utf8) }
        let packed = Outbox.Packed(first: first, items: [item])
        var record = Frame.write(frame.sender, version: 1, oldest: 1, packed)
        if random.chance(30) { record[random.below(record.count)] &+= 1 }
        if random.chance(10) { record = [1, 2, 3] }
        _ = try await stranger.append(record, to: log, id: .random(in: 0 ... .max))
        one.post(CollectionOfOne(11 + round))
      }
      let seen = await two.until { $0.notes(of: "one").last == 310 }
      #expect(seen.notes(of: "one") == Array(1...310))
      for reason in ["A record that no carriage has written.", "Another process has written"] {
        await two.until { seen in
          seen.reports.contains {
            if case .skipped(_, let told, _) = $0 { told.hasPrefix(reason) } else { false }
          }
        }
      }
    }
    await stranger.close()
  }

  /// An attacker who may write, and has read everything, against two processes with a key.
  @Test func signedTopicsDeliverOnlyWhatTheirSendersHavePosted() async throws {
    let key = SymmetricKey(size: .bits256)
    let (one, two, open) = (site("one", keys: [key]), site("two", keys: [key]), site("open"))
    let attacker = InMemoryCarrier(engine)
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    try await withSites(one, two, open) {
      one.post(1...10)
      open.post(1...3)
      await two.until { $0.notes(of: "one").count == 10 }
      let end = try await attacker.end(of: log)
      let real = try await attacker.read(
        log, after: Position(epoch: end.epoch, number: 0), limit: 100
      ).map(\.bytes)
      let signed = try #require(real.first { $0[2] & Frame.signed > 0 })
      let sender = try Frame(signed, from: log, keys: [key]).sender
      var random = SplitMix(seed: 3)
      for round in 0..<300 {
        let item = Frame.item(hops: 0, [:]) { $0 += Array("\(round)".utf8) }
        let first = [11, 12, 500, 1 << 61][random.below(4)] as UInt64
        let packed = Outbox.Packed(first: first, items: [item])
        var record = Frame.write(sender, version: 1, oldest: 1, packed)
        switch random.below(4) {
        case 0: break
        case 1:
          record = Frame.sign(record, for: log, epoch: end.epoch, SymmetricKey(size: .bits256))
        case 2: record = signed
        default:
          record = signed
          record[random.below(record.count)] ^= 1 << random.below(8)
        }
        _ = try await attacker.append(record, to: log, id: .random(in: 0 ... .max))
        one.post(CollectionOfOne(11 + round))
      }
      let seen = await two.until { $0.notes(of: "one").last == 310 }
      #expect(seen.notes(of: "one") == Array(1...310) && seen.heard["note"]?.count == 310)
      for reason in ["A record without a signature.", "A record with a wrong signature."] {
        await two.until { seen in
          seen.reports.contains {
            if case .skipped("note", reason, _) = $0 { true } else { false }
          }
        }
      }
      // A process without the key receives reports, and so does every process that refuses its records.
      await open.until { seen in
        seen.reports.contains {
          if case .skipped("note", let reason, _) = $0 { reason.contains("no key") } else { false }
        }
      }
      #expect(open.seen.notes(of: "one").isEmpty && two.seen.missing == 0)
      await two.until { $0.state?.repeated ?? 0 > 0 }
    }
    await attacker.close()
  }

  /// The first record in a log that was created again is signed for the earlier log, and then once more.
  @Test(arguments: [true, false])
  func aRecordThatIsSignedForTwoLogsIsDeliveredOnce(_ isIntroduced: Bool) async throws {
    let keys = [SymmetricKey(size: .bits256)] + (isIntroduced ? [nil] : [])
    let (one, two) = (site("one", keys: keys), site("two", keys: keys))
    try await withSites(one, two) {
      one.post(1...3)
      await two.until { $0.notes(of: "one") == [1, 2, 3] }
      engine.empty()
      for site in [one, two] {
        await site.until { $0.reports.contains(.beganAnew(type: "note")) }
      }
      one.post(4...4)
      await one.until { $0.state?.sent == 4 }
      one.post(5...5)
      let seen = await two.until { $0.notes(of: "one").last == 5 }
      #expect(seen.notes(of: "one") == Array(1...5))
      #expect(two.carriage.condition.repeated == 1)
    }
  }

  @Test func metadataAndSenderTravel() async throws {
    let (one, two) = (site("one"), site("two"))
    let found = Locked<[CarriageContext]>([])
    let done = Gate()
    two.center.observe(.note, owner: two) { two, note in
      guard note.number != 2 else { return done.open() }
      found.withLock { $0.append(CarriageContext.current) }
      // An answer has the metadata, too.
      two.center.post(.other, Note("two", 1))
    }
    one.center.observe(.other, owner: one) { one, _ in
      found.withLock { $0.append(CarriageContext.current) }
      one.post(2...2)
    }
    try await withSites(one, two) {
      ServiceContext.withValue(CarriageContext.with(metadata: ["trace": "7"])) { one.post(1...1) }
      await done.pass()
      #expect(found.withLock { $0.map(\.metadata) } == [["trace": "7"], ["trace": "7"]])
      #expect(found.withLock { $0.map(\.sender) } == ["one", "two"])
    }
    #expect(CarriageContext.current.sender == nil)
  }

  /// In a process of its own, which has a tracer.
  @Test func aSpanOfAHandlerHasThePostersSpanAsItsParent() async {
    await #expect(processExitsWith: .success) {
      let tracer = InMemoryTracer()
      InstrumentationSystem.bootstrap(tracer)
      let engine = InMemoryCarrier.Engine()
      let sites = ["one", "two", "three"].map { Site(InMemoryCarrier(engine), $0) }
      let (one, two, three) = (sites[0], sites[1], sites[2])
      // An answer belongs to the trace, too, and so does a post that waits for room.
      two.center.observe(.note, owner: two, on: DispatchQueue(label: "two")) { two, _ in
        withSpan("two") { _ in two.post(1...1, to: .other) }
      }
      three.center.observe(.other, owner: three) { three, _ in
        withSpan("three") { _ in three.post(1...1, to: .last) }
      }
      try await withSites(one, two, three) {
        try await withSpan("one") { _ in try await one.carriage.post(.note, Note("one", 1)) }
        await one.until { $0.notes(of: "three", in: "last") == [1] }
        await eventually { tracer.finishedSpans.count == 3 }
      }
      let spans = Dictionary(
        uniqueKeysWithValues: tracer.finishedSpans.map { ($0.operationName, $0) })
      #expect(Set(spans.values.map(\.traceID)).count == 1)
      #expect(spans["one"] != nil && spans["one"]?.parentSpanID == nil)
      #expect(spans["two"]?.parentSpanID == spans["one"]?.spanID)
      #expect(spans["three"]?.parentSpanID == spans["two"]?.spanID)
    }
  }

  /// In a process of its own, which has a metrics system.
  @Test func aTopicIsMeasured() async {
    await #expect(processExitsWith: .success) {
      let metrics = TestMetrics()
      MetricsSystem.bootstrap(metrics)
      let (engine, gate) = (InMemoryCarrier.Engine(), Gate())
      let carrier = HookedCarrier(engine, append: { _, _ in await gate.pass() })
      let (one, two) = (Site(carrier, "one"), Site(InMemoryCarrier(engine), "two"))
      let topic = [("topic", "note")]
      func count(_ name: String, _ dimensions: [(String, String)] = topic) -> Int64 {
        metrics.counterTotal(label: "multicast.carrier.\(name)", dimensions: dimensions)
      }
      func values(_ name: String) -> [Double] {
        metrics.recorders(label: "multicast.carrier.\(name)", dimensions: topic).flatMap(\.values)
      }
      try await withSites(one, two) {
        await one.center.post(.note, Note("one", 1)).delivered()
        await eventually { values("waiting").contains(1) }
        #expect(count("sent") == 0 && count("received") == 0)
        gate.open()
        // A refused topic leaves no meters either.
        one.carriage.carry(.note, as: "again")
        await two.until { $0.notes(of: "one") == [1] }
        await eventually { count("sent") == 1 && count("received") == 1 }
        await eventually { values("waiting").last == 0 }
        await eventually {
          let timers = metrics.timers(label: "multicast.carrier.time", dimensions: topic)
          return timers.flatMap(\.values).count == 1
        }
        #expect(!values("lag").isEmpty && values("lag").allSatisfy { $0 >= 0 })
        // Each connection after an outage counts.
        let connections = count("connections", [])
        engine.isDown = true
        await two.until { seen in
          seen.reports.contains { if case .disconnected = $0 { true } else { false } }
        }
        engine.isDown = false
        // A read that waits shows the connection when there is a record.
        one.post(2...2)
        await eventually { count("connections", []) > connections }
        let long = CarriageContext.with(metadata: [String(repeating: "k", count: 300): ""])
        ServiceContext.withValue(long) { _ = one.center.post(.note, Note("one", 3)) }
        await eventually { count("kept") == 1 }
        // It waits when the topic ends.
        engine.isDown = true
        one.post(4...4)
        await eventually { values("waiting").last == 1 }
        one.carriage.stopCarrying("note")
      }
      // What a metrics system stores for a topic is released with the topic.
      #expect(metrics.timers(label: "multicast.carrier.time").isEmpty)
      #expect(count("kept") == 0)
    }
  }

  @Test func aLoopAcrossProcessesEnds() async throws {
    let (one, two) = (site("one"), site("two"))
    for site in [one, two] {
      site.center.observe(.note, owner: site) { site, note in
        if note.sender != site.name {
          site.post(CollectionOfOne(note.number + 1))
        }
      }
    }
    try await withSites(one, two) {
      one.post(1...1)
      await eventually {
        [one, two].contains { site in
          site.seen.reports.contains {
            if case .kept("note", .loop, 1) = $0 { true } else { false }
          }
        }
      }
      let longest = (one.seen.heard["note"] ?? []).map(\.number).max() ?? 0
      #expect((1_001...1_002).contains(longest), "A thousand answers.")
    }
  }

  /// Two carriages of such centers would send each other the same message forever.
  @Test func aCenterThatLosesTheContextIsRefused() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let center = MulticastCenter()
      let reports = center.messages(of: .carriage)
      let carriage = Carriage(center: center, carrier: InMemoryCarrier(), name: "one")
      carriage.carry(.note, as: "note")
      let running = Task { await carriage.run() }
      for await report in reports {
        if case .began = report { exit(EXIT_SUCCESS) }
        // A debug build has stopped before. A release build says the same, and carries nothing.
        guard case .refused("*", let reason) = report else { continue }
        await running.value
        fatalError(reason)
      }
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("Make the center with MulticastCenter(carrying: .carriage)."))
  }

  // MARK: Topics that come and go

  @Test func aRestartedProcessGoesOnWhereItWas() async throws {
    let one = site("one")
    var two = site("two")
    for site in [one, two] { await site.start() }
    // A process that ends before it has received anything goes on there, too.
    #expect(two.carriage.position(of: "note")?.number == 0)
    one.post(1...100)
    await two.until { $0.notes(of: "one").count == 100 }
    await two.until { $0.state?.received ?? 0 >= 100 }
    await two.stop()
    let place = try #require(two.carriage.position(of: "note"))
    one.post(101...200)
    await one.until { $0.state?.sent == 200 }
    two = Site(InMemoryCarrier(engine), "two", from: .after(place))
    await two.start()
    let seen = await two.until { $0.notes(of: "one").last == 200 }
    #expect(seen.notes(of: "one") == Array(101...200))
    let all = Site(InMemoryCarrier(engine), "all", from: .beginning)
    await all.start()
    await all.until { $0.notes(of: "one") == Array(1...200) }
    // A position in a log that no longer exists.
    let old = Site(
      InMemoryCarrier(engine), "old", from: .after(Position(epoch: 99, number: 1_000)))
    await old.start()
    await old.until { $0.notes(of: "one") == Array(1...200) }
    #expect(old.seen.reports.contains(.beganAnew(type: "note")))
    for site in [one, two, all, old] { await site.stop() }
  }

  @Test func aTopicIsNoLongerCarriedAfterStopCarrying() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      one.post(1...3)
      await two.until { $0.notes(of: "one") == [1, 2, 3] }
      engine.isDown = true
      one.post(4...5)
      await eventually { one.carriage.condition.waitingMessages == 2 }
      one.carriage.stopCarrying("note")
      engine.isDown = false
      await one.until { $0.reports.contains(.kept(type: "note", reason: .notCarried, count: 2)) }
      #expect(one.carriage.condition.waitingMessages == 0)
      one.post(6...6)
      one.carriage.carry(.note, as: "note")
      one.post(7...7)
      await two.until { $0.notes(of: "one") == [1, 2, 3, 7] }
    }
  }

  /// A handler that is called while a record is posted. The rest of the record must not be posted again.
  @Test func aTopicThatIsCarriedAgainMeanwhileIsNotPostedAgain() async throws {
    let (one, two) = (site("one"), site("two"))
    let times = Locked(0)
    two.center.observe(.note, owner: two) { two, note in
      let time = times.withLock { times in
        times += note.number == 3 ? 1 : 0
        return times
      }
      guard note.number == 3, time == 1 else { return }
      two.carriage.stopCarrying("note")
      two.carriage.carry(.note, as: "note", from: .beginning)
    }
    try await withSites(one, two) {
      one.post(1...10)
      await two.until { $0.notes(of: "one").last == 10 }
      two.post(1...1)
      await one.until { $0.notes(of: "two") == [1] }
      #expect(one.seen.notes(of: "one") == Array(1...10))
    }
  }

  /// A handler stops the topic while a record is posted.
  @Test func theRestOfARecordIsNotPostedAfterTheEndOfItsTopic() async throws {
    let (one, two) = (site("one"), site("two"))
    two.center.observe(.last, owner: two) { two, note in
      if note.number == 2 { two.carriage.stopCarrying("last") }
    }
    try await withSites(one, two) {
      one.post(1...1, to: .last)
      await two.until { $0.notes(of: "one", in: "last") == [1] }
      engine.isDown = true
      one.post(2...10, to: .last)
      engine.isDown = false
      await two.until { $0.notes(of: "one", in: "last").contains(2) }
      await one.until { $0.state?.sent == 10 }
      // In the line's home, the post of the record comes before that.
      two.carriage.carry(.last, as: "last")
      await two.until { $0.notes(of: "one", in: "last").last == 10 }
      #expect(two.seen.notes(of: "one", in: "last") == [1, 2, 10])
    }
  }

  /// Otherwise two readers would wait for one log, of which a carrier knows one.
  @Test func aTypeIsCarriedUntilItsLogWasReleased() async {
    let site = Locked<Site?>(nil)
    let carrier = HookedCarrier(
      engine, onRelease: { site.withLock(\.self)?.carriage.carry(.other, as: "note") })
    let one = Site(carrier, "one") { $0.carry(.note, as: "note") }
    site.withLock { $0 = one }
    await one.start(topics: 1)
    one.carriage.stopCarrying("note")
    await one.until { seen in
      seen.reports.contains { if case .refused("note", _) = $0 { true } else { false } }
    }
    one.carriage.carry(.other, as: "other")
    await one.until { $0.began == 2 }
    await one.stop()
    site.withLock { $0 = nil }
  }

  @Test func aTopicOfAClosedCarriageCanBeStopped() async {
    let one = site("one")
    await one.start()
    await one.close()
    #expect(one.carriage.position(of: "note") != nil)
    one.carriage.stopCarrying("note")
    #expect(one.carriage.position(of: "note") == nil)
  }

  /// Its reader still waits for an answer when the type is carried again.
  @Test func aTopicThatHasEndedDoesNotBegin() async throws {
    let (old, new) = (Gate(), Gate())
    let carrier = HookedCarrier(engine)
    carrier.endGates.put(old, new)
    let one = Site(carrier, "one") { $0.carry(.note, as: "note") }
    one.run()
    await eventually { carrier.endGates.arrived == 1 }
    one.carriage.stopCarrying("note")
    one.carriage.carry(.note, as: "note")
    await eventually { carrier.endGates.arrived == 2 }
    old.open()
    // Long enough for the old reader, which has nothing to wait for.
    for _ in 0..<1_000 { await Task.yield() }
    #expect(one.seen.began == 0)
    new.open()
    await one.until { $0.began > 0 }
    let two = site("two")
    try await withSites(two) {
      two.post(1...1)
      await one.until { $0.notes(of: "two") == [1] }
    }
    #expect(one.seen.began == 1)
    await one.stop()
  }

  /// A handler of a report lets the last state before `close()` wait.
  @Test func theStateThatATopicKeepsIsTheLastOne() async {
    let one = site("one")
    let states = Locked<[CarriageState.Connection]>([])
    one.center.observe(.carriageState, owner: one) { _, state in
      states.withLock { $0.append(state.connection) }
    }
    let isReported = Gate()
    one.center.observe(.carriage, owner: one) { one, report in
      guard case .kept = report else { return }
      isReported.open()
      // Until `close()` has posted its state.
      while one.center.latest(of: .carriageState)?.connection != .closed { usleep(1_000) }
    }
    await one.start()
    one.center.post(.note, Note("one", 1, String(repeating: "x", count: 2 << 20)))
    await isReported.pass()
    await one.close()
    await eventually { states.withLock { $0.count { $0 == .closed } } == 2 }
    #expect(states.withLock { $0.suffix(3) } == [.closed, .connected, .closed])
  }

  @Test func topicsThatEndLeaveNothing() async throws {
    let one = Site(InMemoryCarrier(engine), "one") { $0.carry(.other, as: "other") }
    await one.start(topics: 1)
    for round in 0..<2_000 {
      let topic = Topic<Int>("short \(round)")
      one.carriage.carry(topic, as: "short \(round)")
      try await one.carriage.post(topic, round)
      one.carriage.stopCarrying("short \(round)")
    }
    let left = one.carriage.state.withLock {
      ($0.lines.count, $0.topics.count, $0.outbox.messages, $0.outbox.bytes)
    }
    #expect(left == (1, 1, 0, 0))
    await one.stop()
  }

  @Test func theEndDoesNotWaitForAHandler() async throws {
    let (one, two) = (site("one"), site("two", limits: limits(closing: .milliseconds(10))))
    let (began, end) = (Gate(), DispatchSemaphore(value: 0))
    // Without a home, so that it is called on the carriage's own thread.
    two.center.observe(.note, owner: two) { _, _ in
      began.open()
      end.wait()
    }
    for site in [one, two] { await site.start() }
    one.post(1...1)
    await began.pass()
    await two.stop()
    #expect(two.carriage.condition.connection == .closed)
    end.signal()
    await one.stop()
  }

  // MARK: Latest values

  /// The record at the end of the log is dropped before it is read. What follows is for this process, and counts as a whole.
  @Test func messagesThatAreStoredDuringTheCatchingUpAreReceived() async throws {
    let (sending, reading, records) = (Gate(), Gate(), Locked(0))
    let carrier = HookedCarrier(
      engine,
      append: { _, _ in
        if records.next() == 4 { await sending.pass() }
      })
    let one = Site(carrier, "one") { $0.carry(.last, as: "last") }
    let two = Site(
      HookedCarrier(
        engine,
        read: { _ in
          await reading.pass()
          return false
        }), "two"
    ) { $0.carry(.last, as: "last") }
    await one.start(topics: 1)
    func post(_ number: Int) async {
      one.post(number...number, to: .last)
      await eventually { one.carriage.condition.sent == UInt64(number) }
    }
    for number in 1...3 { await post(number) }
    await two.start(topics: 1)
    one.post(4...4, to: .last)
    await eventually { records.withLock { $0 } == 4 }
    // These share a record, which is the first of the 64 that are kept.
    one.post(5...104, to: .last)
    await eventually { one.carriage.condition.waitingMessages == 101 }
    sending.open()
    await eventually { one.carriage.condition.sent == 104 }
    for number in 105...167 { await post(number) }
    reading.open()
    let seen = await two.until { $0.notes(of: "one", in: "last").last == 167 }
    #expect(seen.notes(of: "one", in: "last") == Array(5...167))
    for site in [one, two] { await site.stop() }
  }

  /// A process reads a log of latest values again, and the log drops its end before it is read. Newer values follow, so the process
  /// does not post its own one again.
  @Test func anOldValueIsNotPostedAfterNewerOnes() async throws {
    let (first, second) = (Gate(), Gate())
    let reads = Gates()
    let carrier = HookedCarrier(
      engine,
      read: { _ in
        await reads.pass()
        return false
      })
    let carry: (Carriage) -> Void = { $0.carry(.last, as: "last") }
    let one = Site(InMemoryCarrier(engine), "one", carrying: carry)
    let two = Site(carrier, "two", carrying: carry)
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...1, to: .last)
    await two.until { $0.notes(of: "one", in: "last") == [1] }
    await one.stop()
    reads.put(first, second)
    engine.isDown = true
    await eventually { reads.arrived == 1 }
    engine.empty()
    engine.isDown = false
    let three = Site(InMemoryCarrier(engine), "three", carrying: carry)
    await three.start(topics: 1)
    func post(_ numbers: ClosedRange<Int>) async {
      for number in numbers {
        three.post(number...number, to: .last)
        await eventually { three.carriage.condition.sent == UInt64(number) }
      }
    }
    await post(1...1)
    first.open()
    // It has asked for the end, which is the record of 1.
    await eventually { reads.arrived == 2 }
    await post(2...70)
    second.open()
    await two.until { $0.notes(of: "three", in: "last").last == 70 }
    await post(71...71)
    await two.until { $0.notes(of: "three", in: "last").last == 71 }
    #expect(two.carriage.condition.sent == 0 && two.carriage.condition.waitingMessages == 0)
    #expect(three.seen.notes(of: "one", in: "last") == [])
    for site in [two, three] { await site.stop() }
  }

  @Test func aLateProcessReceivesTheLatestValue() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      one.post(1...50, to: .last)
      await two.until { $0.notes(of: "one", in: "last").last == 50 }
      await one.until { $0.state?.waitingMessages == 0 }
    }
    // All others have ended.
    let three = site("three")
    try await withSites(three) {
      let seen = await three.until { !$0.notes(of: "one", in: "last").isEmpty }
      #expect(seen.notes(of: "one", in: "last") == [50], "The last one alone.")
    }
  }

  @Test func aPositionOfAnEarlierLogLeadsToTheLatestValueAlone() async throws {
    let one = site("one")
    await one.start()
    for number in 1...5 {
      await one.center.post(.last, Note("one", number)).delivered()
      await eventually { one.carriage.condition.waitingMessages == 0 }
    }
    let two = Site(InMemoryCarrier(engine), "two") {
      $0.carry(.last, as: "last", from: .after(Position(epoch: 99, number: 5_000)))
    }
    await two.start(topics: 1)
    let seen = await two.until { $0.notes(of: "one", in: "last").last == 5 }
    #expect(seen.notes(of: "one", in: "last") == [5])
    for site in [one, two] { await site.stop() }
  }

  /// A log is created again while a process catches up with it.
  @Test(arguments: [0, 3])
  func theCatchingUpGoesOnInALogThatWasCreatedAgain(newValues: Int) async throws {
    let log = Log(prefix: "multicast", type: "last", keepsLatest: true)
    let one = site("one")
    await one.start()
    for number in 1...40 {
      one.post(number...number, to: .last)
      await eventually { one.carriage.condition.sent == UInt64(number) }
    }
    await one.stop()
    let reads = Locked(0)
    let carrier = HookedCarrier(
      engine,
      read: { [engine] log in
        // The first answer has 32 of the 40 values.
        guard log.keepsLatest, reads.next() == 2 else { return false }
        engine.empty()
        let (stranger, sender) = (InMemoryCarrier(engine), Frame.Sender(id: 1 << 24, name: "new"))
        for number in 0..<newValues {
          let body = try JSONEncoder().encode(Note("new", number))
          let packed = Outbox.Packed(
            first: UInt64(number + 1), items: [Frame.item(hops: 0, [:]) { $0 += body }])
          let record = Frame.write(sender, version: 1, oldest: 1, packed)
          _ = try await stranger.append(record, to: log, id: UInt64(number))
        }
        return false
      })
    let two = Site(carrier, "two") { $0.carry(.last, as: "last") }
    await two.start(topics: 1)
    let seen = await two.until { $0.heard["last"] != nil }
    #expect(seen.heard["last"] == [newValues > 0 ? Note("new", 2) : Note("one", 32)])
    // The new log has no value, so it gets the one that counts here.
    if newValues == 0 { await eventually { two.carriage.condition.sent == 1 } }
    await two.stop()
    #expect(try await InMemoryCarrier(engine).end(of: log).number == UInt64(max(newValues, 1)))
  }

  /// A log is read again, and its last value is the one that counts here.
  @Test func aValueThatEndsTheLogIsNotStoredAgain() async throws {
    let log = Log(prefix: "multicast", type: "last", keepsLatest: true)
    let end = try await InMemoryCarrier(engine).end(of: log)
    let (one, hasReadAgain, reads) = (site("one"), Gate(), Locked(0))
    let carrier = HookedCarrier(
      engine,
      read: { _ in
        switch reads.next() {
        case 2: throw CarrierError.beganAnew(end)
        case 4: hasReadAgain.open()
        default: break
        }
        return false
      })
    let two = Site(carrier, "two") { $0.carry(.last, as: "last") }
    await one.start()
    await two.start(topics: 1)
    one.post(1...1, to: .last)
    await hasReadAgain.pass()
    await eventually { two.carriage.condition.waitingMessages == 0 }
    for site in [one, two] { await site.stop() }
    #expect(try await InMemoryCarrier(engine).end(of: log).number == 1)
    #expect(two.seen.notes(of: "one", in: "last") == [1])
  }

  /// A restored log ends behind a process, and another one posts before the process has read it again.
  @Test func aLostValueIsNotPostedAgainBehindANewerOne() async throws {
    let (first, second) = (Gate(), Gate())
    let reads = Gates()
    let carrier = HookedCarrier(
      engine,
      read: { _ in
        await reads.pass()
        return false
      })
    let carry: (Carriage) -> Void = { $0.carry(.last, as: "last") }
    let one = Site(InMemoryCarrier(engine), "one", carrying: carry)
    let two = Site(carrier, "two", carrying: carry)
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...1, to: .last)
    await eventually { one.carriage.condition.sent == 1 }
    let saved = engine.save()
    one.post(2...2, to: .last)
    await two.until { $0.notes(of: "one", in: "last") == [1, 2] }
    await one.stop()
    reads.put(first, second)
    engine.isDown = true
    await eventually { reads.arrived == 1 }
    engine.restore(saved)
    engine.isDown = false
    first.open()
    // It has asked for the end, which is the record of 1.
    await eventually { reads.arrived == 2 }
    let three = Site(InMemoryCarrier(engine), "three", carrying: carry)
    await three.start(topics: 1)
    three.post(3...3, to: .last)
    await eventually { three.carriage.condition.sent == 1 }
    second.open()
    await two.until { $0.notes(of: "three", in: "last") == [3] }
    three.post(4...4, to: .last)
    await two.until { $0.notes(of: "three", in: "last") == [3, 4] }
    #expect(two.carriage.condition.sent == 0 && two.carriage.condition.waitingMessages == 0)
    #expect(three.seen.notes(of: "one", in: "last") == [1])
    for site in [two, three] { await site.stop() }
  }

  /// A log ends with a repeated record. A process that begins then skips it, as all others have done.
  @Test func aRepeatedRecordAtTheEndOfTheLogDoesNotCount() async throws {
    let log = Log(prefix: "multicast", type: "last", keepsLatest: true)
    let (stranger, one) = (InMemoryCarrier(engine), site("one"))
    await one.start()
    for number in 1...2 {
      one.post(number...number, to: .last)
      await eventually { one.carriage.condition.sent == UInt64(number) }
    }
    await one.stop()
    let start = Position(epoch: try await stranger.end(of: log).epoch, number: 0)
    let first = try #require(try await stranger.read(log, after: start, limit: 1).first)
    _ = try await stranger.append(first.bytes, to: log, id: 1)
    let (hasCaughtUp, reads) = (Gate(), Locked(0))
    let carrier = HookedCarrier(
      engine,
      read: { _ in
        if reads.next() == 2 { hasCaughtUp.open() }
        return false
      })
    let two = Site(carrier, "two") { $0.carry(.last, as: "last") }
    await two.start(topics: 1)
    await hasCaughtUp.pass()
    await eventually { two.carriage.condition.waitingMessages == 0 }
    await two.stop()
    #expect(two.seen.notes(of: "one", in: "last") == [2])
    #expect(try await stranger.end(of: log).number == 3)
  }

  /// The values that wait end the log, once they leave.
  @Test func aValueThatWaitsWhenTheLogBeginsAgainIsPostedOnce() async throws {
    let (gate, isStuck) = (Gate(), Locked(false))
    let (reader, hasReadAgain) = (Locked<Site?>(nil), Gate())
    let carrier = HookedCarrier(
      engine, append: { _, _ in if isStuck.withLock(\.self) { await gate.pass() } },
      read: { _ in
        let reports = reader.withLock { $0?.seen.reports } ?? []
        // The log has been read again up to its end.
        if reports.contains(.beganAnew(type: "last")) { hasReadAgain.open() }
        return false
      })
    let topic: (Carriage) -> Void = { $0.carry(.last, as: "last") }
    let (one, two) = (
      Site(carrier, "one", carrying: topic), Site(InMemoryCarrier(engine), "two", carrying: topic)
    )
    reader.withLock { $0 = one }
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...1, to: .last)
    await two.until { $0.notes(of: "one", in: "last") == [1] }
    await eventually { one.carriage.condition.waitingMessages == 0 }
    isStuck.withLock { $0 = true }
    await one.center.post(.last, Note("one", 2)).delivered()
    engine.empty()
    await hasReadAgain.pass()
    gate.open()
    await eventually { one.carriage.condition.waitingMessages == 0 }
    one.post(3...3, to: .last)
    let seen = await two.until { $0.notes(of: "one", in: "last").last == 3 }
    #expect(seen.notes(of: "one", in: "last") == [1, 2, 3])
    for site in [one, two] { await site.stop() }
    reader.withLock { $0 = nil }
  }

  /// A process that is killed before it has delivered the latest value reads it again.
  @Test func noPositionIsAheadOfTheLatestValue() async throws {
    let (one, last) = (site("one"), Locked<[Position?]>([]))
    try await withSites(one) {
      // More records than a reader asks for at once.
      for number in 1...40 {
        one.post(number...number, to: .last)
        await eventually { one.carriage.condition.sent == number }
      }
    }
    let carriage = Locked<Carriage?>(nil)
    let read: HookedCarrier.Read = { _ in
      last.withLock { last in last.append(carriage.withLock { $0?.position(of: "last") }) }
      return false
    }
    let two = Site(HookedCarrier(engine, read: read), "two") { own in
      own.carry(.last, as: "last")
      carriage.withLock { $0 = own }
    }
    await two.start(topics: 1)
    await two.until { $0.notes(of: "one", in: "last") == [40] }
    await eventually { last.withLock { $0.count } == 3 }
    #expect(last.withLock { $0.map { $0?.number } } == [nil, nil, 40])
    await two.stop()
  }

  @Test func aTopicThatIsCarriedAgainTakesTheValueOfTheOthers() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      two.post(5...5, to: .last)
      await one.until { $0.notes(of: "two", in: "last") == [5] }
      one.carriage.stopCarrying("last")
      #expect(one.center.latest(of: .last) == nil)
      two.post(6...6, to: .last)
      await two.until { $0.state?.waitingMessages == 0 && $0.state?.sent == 2 }
      one.carriage.carry(.last, as: "last")
      await one.until { $0.notes(of: "two", in: "last") == [5, 6] }
      #expect(two.seen.notes(of: "two", in: "last") == [5, 6])
    }
  }

  /// Its value from before is the log's last one, and all others have it.
  @Test func aTopicThatIsCarriedAgainTakesItsOwnValueFromBefore() async throws {
    let (one, two) = (site("one"), site("two"))
    try await withSites(one, two) {
      two.post(4...4, to: .last)
      await one.until { $0.notes(of: "two", in: "last") == [4] }
      one.post(5...5, to: .last)
      await two.until { $0.notes(of: "one", in: "last") == [5] }
      await one.until { $0.state?.waitingMessages == 0 && $0.state?.sent == 1 }
      one.carriage.stopCarrying("last")
      #expect(one.center.latest(of: .last) == nil)
      one.carriage.carry(.last, as: "last")
      await one.until { $0.notes(of: "one", in: "last") == [5, 5] }
      #expect(one.center.latest(of: .last) == two.center.latest(of: .last))
      #expect(one.seen.notes(of: "two", in: "last") == [4])
    }
  }

  /// A value is posted before the carriage begins to read, and follows another one in the log.
  @Test func anOwnValueFromBeforeTheBeginningIsNotReplacedByAnEarlierOne() async throws {
    let (one, two) = (site("one"), site("two"))
    await one.start()
    one.post(1...1, to: .last)
    await eventually { one.carriage.condition.sent == 1 }
    two.post(2...2, to: .last)
    await eventually { two.carriage.condition.sent == 1 }
    await two.start()
    await eventually { two.carriage.position(of: "last")?.number == 2 }
    await one.until { $0.notes(of: "two", in: "last") == [2] }
    #expect(two.center.latest(of: .last) == Note("two", 2))
    #expect(two.seen.notes(of: "one", in: "last") == [])
    for site in [one, two] { await site.stop() }
  }

  @Test func latestValuesAgreeForAnyOrderOfPosts() async throws {
    let sites = ["one", "two", "three"].map { site($0) }
    for site in sites { await site.start() }
    for round in 0..<20 {
      await withTaskGroup { group in
        for site in sites {
          group.addTask { site.post((1 + 5 * round)...(5 + 5 * round), to: .last) }
        }
      }
      // Until nothing changes: all have read to the end, and no message waits.
      let carrier = InMemoryCarrier(engine)
      let log = Log(prefix: "multicast", type: "last", keepsLatest: true)
      await eventually {
        guard sites.allSatisfy({ $0.carriage.condition.sent == UInt64(5 * round + 5) }) else {
          return false
        }
        let end = try? await carrier.end(of: log)
        return sites.allSatisfy { $0.carriage.position(of: "last") == end }
      }
      // A value that was overtaken is posted again.
      await eventually { Set(sites.map { $0.center.latest(of: .last) }).count == 1 }
    }
    for site in sites { await site.stop() }
  }

  // MARK: Presence

  @Test func presenceReportsWhichProcessesJoinAndLeave() async throws {
    func presence(_ carrier: any Carrier & Registry, _ name: String) -> (Presence, Site) {
      let site = Site(carrier, name) { _ in }
      let presence = Presence(
        center: site.center, registry: carrier, name: name, details: ["at": "home of \(name)"],
        expiry: .milliseconds(300))
      return (presence, site)
    }
    let told = Locked<[PresenceReport]>([])
    let (one, site) = presence(InMemoryCarrier(engine), "one")
    let messages = site.center.messages(of: .presence)
    site.center.observe(.presence, owner: site) { _, report in told.withLock { $0.append(report) } }
    let running = Task { await one.run() }
    var reports = messages.makeAsyncIterator()
    #expect(await reports.next() == .joined(one.own, isOwn: true))
    // A process that ends.
    let (two, _) = presence(InMemoryCarrier(engine), "two")
    let second = Task { await two.run() }
    #expect(await reports.next() == .joined(two.own, isOwn: false))
    #expect(Set(one.members) == [one.own, two.own])
    second.cancel()
    #expect(await reports.next() == .left(two.own))
    // A process that is killed, which stores its key no more.
    let carrier = HookedCarrier(engine)
    let (three, _) = presence(carrier, "three")
    let third = Task { await three.run() }
    #expect(await reports.next() == .joined(three.own, isOwn: false))
    await carrier.close()
    #expect(await reports.next() == .left(three.own))
    third.cancel()
    // While the engine is away, no process joins or leaves.
    engine.isDown = true
    await eventually { one.problem != nil }
    #expect(one.members == [one.own])
    engine.isDown = false
    await eventually { one.problem == nil }
    running.cancel()
    await running.value
    #expect(one.members.isEmpty && one.problem == "It does not run any more.")
    #expect(told.withLock { $0.count } == 5)
    #expect(three.own.details == ["at": "home of three"])
  }

  @Test func presenceEndsWithAnEngineThatDoesNotAnswer() async throws {
    let (gate, isAsked) = (Gate(), Gate())
    let carrier = HookedCarrier(
      engine,
      append: { _, _ in
        isAsked.open()
        await gate.pass()
      })
    let presence = Presence(
      center: MulticastCenter(), registry: carrier, name: "one", expiry: .milliseconds(10))
    let running = Task { await presence.run() }
    await isAsked.pass()
    running.cancel()
    await running.value
    gate.open()
  }

  @Test func presenceIgnoresWhatIsTooLargeForAProcess() async throws {
    let (carrier, center) = (InMemoryCarrier(engine), MulticastCenter())
    for size in [70_000, 7] {
      let member = Presence.Member(
        id: "\(size)", name: "other", details: ["at": String(repeating: "x", count: size)])
      _ = try await carrier.register(
        Array(JSONEncoder().encode(member)), as: member.id, in: "multicast", expiry: .seconds(60))
    }
    let presence = Presence(center: center, registry: carrier, name: "one", expiry: .seconds(60))
    let running = Task { await presence.run() }
    await eventually { !presence.members.isEmpty }
    #expect(presence.members.contains { $0.id == "7" })
    #expect(!presence.members.contains { $0.id == "70000" })
    running.cancel()
    await running.value
    // Its own details are too large for the others.
    let large = Presence(
      center: center, registry: carrier, name: "one",
      details: ["at": String(repeating: "x", count: 70_000)])
    let failing = Task { await large.run() }
    await eventually { large.problem?.contains("65536 are the most") == true }
    failing.cancel()
    await failing.value
  }
}

/// The number of threads of this process; 0 where the system does not report it.
private var threads: Int {
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("Threads") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}

/// Waits for a condition that nothing reports.
private func eventually(_ holds: () async -> Bool) async {
  while await !holds() { try? await Task.sleep(for: .milliseconds(2)) }
}

extension MulticastCenter {
  /// Observes a topic with a handler that waits at a gate.
  fileprivate func observe(_ topic: Topic<Note>, owner: Gate, awaiting gate: Gate) {
    observe(topic, owner: owner) { _, _ in await gate.pass() }
  }
}
