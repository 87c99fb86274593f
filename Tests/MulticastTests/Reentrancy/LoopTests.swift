import Dispatch
import Multicast
import TestSupport
import Testing

/// Rule 11 of the contract, for synchronous notifies.
@Suite struct LoopTests {
  let journal = Journal()
  let reports = Reports()
  var center: MulticastCenter { reports.center }

  /// A client that answers calls of both protocols with closures.
  final class Echo: PingProtocol, PongProtocol {
    var onPing: () -> Void = {}
    var onPong: () -> Void = {}
    func ping(_ number: Int) { onPing() }
    func pong(_ number: Int) { onPong() }
  }

  // MARK: - Loops

  @Test func aCallSiteInsideItselfIsRefusedAndReported() throws {
    let echo = center.adding(Echo())
    var results: [Int] = []
    func notify() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    echo.onPing = { results.append(notify()) }
    #expect(notify() == 1)
    #expect(results == [0])
    let report = try #require(reports.all.first)
    #expect(reports.all.count == 1)
    #expect(report.key == "PingProtocol")
    #expect(report.path.count == 2)
    #expect(report.path[0] == report.path[1])
    #expect(report.path[0].fileID == #fileID)
    // The same call site can notify again.
    #expect(notify() == 1)
    #expect(reports.all.count == 2)
  }

  @Test func aLoopThroughTwoProtocolsIsReportedWithBothCallSites() throws {
    let echo = center.adding(Echo())
    center.add(echo, for: PongProtocol.self)
    let pingLine = #line + 1
    func ping() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    let pongLine = #line + 1
    func pong() -> Int { center.notify(PongProtocol.self) { $0.pong(1) } }
    var calls = 0
    echo.onPing = { calls += pong() }
    echo.onPong = { calls += ping() }
    #expect(ping() == 1)
    #expect(calls == 1)
    let report = try #require(reports.all.first)
    #expect(report.path.map(\.line) == [pingLine, pongLine, pingLine])
    #expect(report.key == "PingProtocol")
  }

  @Test func aLoopThroughTwoCentersIsRefused() throws {
    let otherReports = Reports()
    let other = MulticastCenter(onRecursion: otherReports.handler)
    let one = center.adding(Echo())
    let two = other.adding(Echo())
    func inOne() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    func inOther() -> Int { other.notify(PingProtocol.self) { $0.ping(1) } }
    var results: [Int] = []
    one.onPing = { results.append(inOther()) }
    two.onPing = { results.append(inOne()) }
    #expect(inOne() == 1)
    #expect(results == [0, 1])
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.path.count == 3)
    #expect(otherReports.all.isEmpty)
  }

  /// The letters that a post handles itself, in the homes that are here, are part of its stack.
  @Test(arguments: [1, 2]) func aLoopThroughAPostIsRefusedInEveryHomeThatIsHere(index: Int) {
    let (owner, calls) = (kept(Owner()), Numbers())
    let outer = DispatchQueue(label: "outer")
    let inner = DispatchQueue(label: "inner", target: outer)
    @Sendable func notify() { center.notify(PingProtocol.self) { $0.ping(1) } }
    center.adding(
      Listener { [center] _ in
        calls.add(0)
        // If no notify is refused, this ends the loop.
        if calls.all.count < 100 { center.post(.login, Login(id: 1)) }
      })
    for (number, queue) in [(1, outer), (2, inner)] {
      center.observe(.login, owner: owner, on: queue) { _, _ in if number == index { notify() } }
    }
    inner.sync { notify() }
    #expect(calls.all.count == 1)
    #expect(reports.all.count == 1)
  }

  @Test(arguments: [1, 2, 50])
  func aLoopOfManyClientsEndsAfterEachHasCalledAll(count: Int) {
    var calls = 0
    for _ in 0..<count {
      center.adding(Echo()).onPing = { [center] in
        calls += 1
        center.notify(PingProtocol.self) { $0.ping(1) }
      }
    }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(calls == count + count * count)
    #expect(reports.all.count == count * count)
  }

  /// A client notifies from each of several call sites whenever it is called.
  @Test(arguments: [2, 4, 12], [ReentrancyPolicy.refuseLoops, .allow(depth: 0)])
  func aLoopThroughManyCallSitesEnds(count: Int, policy: ReentrancyPolicy) {
    let center = MulticastCenter(reentrancy: policy, onRecursion: reports.handler)
    let echo = center.adding(Echo())
    var calls = 0
    func notify(_ line: Int) -> Int {
      center.notify(PingProtocol.self, line: line) { $0.ping(1) }
    }
    echo.onPing = {
      calls += 1
      for line in 1...count { _ = notify(line) }
    }
    for _ in 0..<2 {
      calls = 0
      #expect(notify(1) == 1)
      // All paths without a repeated call site, or those of two levels and the first 1,000 deeper ones.
      #expect(calls == (count == 2 ? 2 : count == 4 ? 16 : 1 + 11 + 1_000))
    }
    #expect(reports.all.isEmpty == false)
  }

  @Test func aLoopThroughManyAwaitedCallSitesEnds() async {
    let calls = Numbers()
    let delegate = MulticastDelegate<any WorkerProtocol>(onRecursion: reports.handler)
    @Sendable func notify(_ line: Int) async {
      await delegate.notify(line: line, awaiting: { await $0.workSlowly(1) })
    }
    delegate.adding(
      Worker(onSlowWork: { _ in
        calls.add(1)
        for line in 1...12 { await notify(line) }
      }))
    await notify(1)
    #expect(calls.all.count == 1 + 11 + 1_000)
  }

  @Test func manyNestedDeliveriesOneAfterTheOtherAreNotALoop() {
    let echo = center.adding(Echo())
    var calls = 0
    echo.onPing = {
      calls += 1
      if calls > 1 { return }
      for _ in 0..<5_000 { center.notify(PingProtocol.self) { $0.ping(1) } }
    }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(calls == 5_001)
    #expect(reports.all.isEmpty)
  }

  /// Each letter starts a chain of deliveries of its own.
  @Test func nestedDeliveriesOfManyLettersAreNotALoop() {
    let (queue, calls) = (DispatchQueue(label: "home"), Numbers())
    let client = kept(
      Listener { [center] number in
        calls.add(number)
        if number < 3 { center.notify(PingProtocol.self, line: number) { $0.ping(number + 1) } }
      })
    center.add(client, for: PingProtocol.self, on: queue)
    queue.suspend()
    for _ in 0..<1_500 { center.post(PingProtocol.self) { $0.ping(1) } }
    queue.resume()
    while calls.all.count < 4_500, reports.all.isEmpty { queue.sync {} }
    #expect(reports.all.isEmpty)
  }

  @Test func notifyForEachAndMapAreGuardedTogether() {
    let echo = center.adding(Echo())
    var depth = 0
    func map() { _ = center.map(PingProtocol.self) { $0.ping(1) } }
    func batch() { center[PingProtocol.self].notify(forEach: [1]) { $0.ping($1) } }
    func notify() { center.notify(PingProtocol.self) { $0.ping(1) } }
    echo.onPing = {
      depth += 1
      map()
      batch()
      notify()
    }
    notify()
    // Each call site may be active once in a chain, so this counts the arrangements of three call sites, with
    // the first one fixed, and those of the inner two.
    #expect(depth == 1 + 2 + 2)
    #expect(reports.all.allSatisfy { $0.path.count <= 4 })
  }

  // MARK: - No loops

  @Test func aNotifyOnAnotherListThreadOrTaskIsNotALoop() async {
    let other = MulticastCenter(onRecursion: reports.handler)
    let (results, continuation) = AsyncStream.makeStream(of: Int.self)
    @Sendable func notify(_ number: Int, _ center: MulticastCenter) -> Int {
      center.notify(PingProtocol.self) { $0.ping(number) }
    }
    other.adding(Counter())
    center.adding(
      Listener { [center] number in
        switch number {
        case 0: #expect(notify(1, other) == 1)
        case 1: onNewThread { #expect(notify(2, center) == 1) }
        case 2:
          Task {
            continuation.yield(notify(3, center))
            continuation.finish()
          }
        default: break
        }
      })
    #expect(notify(0, center) == 1)
    #expect(notify(1, center) == 1)
    #expect(await results.first { _ in true } == 1)
    #expect(reports.all.isEmpty)
  }
}

/// The part of rule 11 of the contract that wrappers rely on: each way of delivering of a center, and so of its
/// delegates, counts as the call site that it is given, by its file, its line and its column.
@Suite struct PassedOnCallSiteTests {
  enum Way: CaseIterable, Sendable {
    case notify, batch, map, awaited
  }

  static let site = CallSite(fileID: "App/Store.swift", line: 12, column: 32)

  /// Call sites that differ in one part from the outer one. A nested notify from them is not a loop.
  static let others: [(fileID: StaticString, line: Int, column: Int)] = [
    ("App/Other.swift", 12, 32), ("App/Store.swift", 13, 32), ("App/Store.swift", 12, 33),
  ]

  let reports = Reports()

  @Test(arguments: Way.allCases)
  func aCenterComparesEveryPartOfACallSite(way: Way) async {
    let center = MulticastCenter(onRecursion: reports.handler)
    let client = center.adding(Client("a", Journal()))
    func nested(_ fileID: StaticString, _ line: Int, _ column: Int) -> Int {
      switch way {
      case .notify, .awaited:
        center.notify(PingProtocol.self, fileID: fileID, line: line, column: column) { _ in }
      case .batch:
        center[PingProtocol.self].notify(
          forEach: [1], fileID: fileID, line: line, column: column
        ) { _, _ in }
      case .map:
        center.map(PingProtocol.self, fileID: fileID, line: line, column: column) { _ in 1 }.count
      }
    }
    client.onPing = { _ in check(nested) }
    switch way {
    case .notify, .batch, .map:
      center.notify(
        PingProtocol.self, fileID: "App/Store.swift", line: 12, column: 32
      ) { $0.ping(1) }
    case .awaited:
      await center.notify(
        PingProtocol.self, fileID: "App/Store.swift", line: 12, column: 32,
        awaiting: { $0.ping(1) })
    }
    #expect(reports.all.map(\.path) == [[Self.site, Self.site]])
  }

  /// Notifies from the call site of the outer notify, which is refused, and from the other ones, which are not.
  private func check(_ nested: (StaticString, Int, Int) -> Int) {
    #expect(nested("App/Store.swift", 12, 32) == 0)
    for other in Self.others {
      #expect(nested(other.fileID, other.line, other.column) == 1, "\(other)")
    }
  }
}

@Suite struct ReentrancyPolicyTests {
  let journal = Journal()
  let reports = Reports()

  /// Returns the depth at which a notify that repeats itself from one call site is refused.
  func depthOfLoop(_ policy: ReentrancyPolicy, limit: Int = 100) -> Int {
    let delegate = MulticastDelegate<any PingProtocol>(
      reentrancy: policy, onRecursion: reports.handler)
    let client = delegate.adding(Client("a", journal))
    var depth = 0
    func notify() {
      delegate.notify { $0.ping(1) }
    }
    client.onPing = { _ in
      depth += 1
      if depth < limit { notify() }
    }
    notify()
    return depth
  }

  @Test(arguments: [0, 1, 2, 10])
  func allowPermitsACallSiteInsideItselfUpToItsDepth(depth: Int) {
    // Recursion that ends within its depth is not reported.
    #expect(depthOfLoop(.allow(depth: depth), limit: depth + 1) == depth + 1)
    #expect(reports.all.isEmpty)
    #expect(depthOfLoop(.allow(depth: depth)) == depth + 1)
    #expect(reports.all.map(\.path.count) == [depth + 2])
  }

  @Test func refuseNestingRefusesOtherCallSitesAndPermitsOtherProtocols() {
    #expect(depthOfLoop(.refuseLoops) == 1)
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    let client = center.adding(Client("a", Journal()))
    center.add(client, for: Client.self)
    var results: [Int] = []
    client.onPing = { number in
      guard number == 1 else { return }
      results.append(center.notify(Client.self) { $0.ping(2) })
      results.append(center.notify(PingProtocol.self) { $0.ping(2) })
    }
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(results == [1, 0])
    #expect(reports.all.map(\.path.count) == [2, 2])
  }

  @Test func aRecursionHandlerThatNotifiesIntoALoopReturns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      // The client's notify is refused. The recursion handler notifies then, and the loop inside that
      // notify is printed instead of being passed to the handler again.
      precondition(Self.notifyIntoALoop() == "a a ! a")
    }
    #expect(
      text(result).hasPrefix("Multicast: A recursive notification of PingProtocol was refused"))
    #expect(text(result).split(separator: "Multicast: ").count == 1)
  }

  /// A function, because inside the macro all calls would have the call site of the macro.
  private static func notifyIntoALoop() -> String {
    // The handler is called without a lock held.
    let reference = Locked<MulticastCenter?>(nil)
    let journal = Journal()
    let center = MulticastCenter { _ in
      journal.write("!")
      reference.withLock { $0 }?.notify(PingProtocol.self) { $0.ping(2) }
    }
    reference.withLock { $0 = center }
    defer { reference.withLock { $0 = nil } }
    let client = center.adding(Client("a", journal))
    client.onPing = { _ in center.notify(PingProtocol.self) { $0.ping(1) } }
    center.notify(PingProtocol.self) { $0.ping(0) }
    return journal.read()
  }

  @Test func aNegativeDepthStopsTheProgram() async {
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      _ = MulticastCenter(reentrancy: .allow(depth: -1))
    }
    #expect(text(result).contains("ReentrancyPolicy.allow(depth: -1) is negative; use 0 or more"))
  }
}
