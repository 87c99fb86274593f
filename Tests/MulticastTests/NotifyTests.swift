import TestSupport
import Testing

@testable import Multicast

/// Batches, answers, and rule 12 of the contract: the first error ends the delivery and reaches the caller with
/// its type.
@Suite struct BatchAndMapTests {
  struct Stop: Error, Equatable { let name: String }

  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  @Test func eachClientReceivesAllEventsBeforeTheNextClient() {
    let clients = kept(addClients("ab", to: delegate, journal))
    #expect(delegate.notify(forEach: [Int]()) { $0.ping($1) } == 2)
    #expect(journal.read() == "")
    for client in clients { client.onPing = { [journal] number in journal.write("\(number)") } }
    #expect(delegate.notify(forEach: 1...3) { $0.ping($1) } == 2)
    #expect(journal.read() == "a 1 a 2 a 3 b 1 b 2 b 3")
  }

  @Test(arguments: [false, true])
  func aClientRemovedDuringItsEventsReceivesNoMore(isAddedAgain: Bool) {
    let clients = kept(addClients("ab", to: delegate, journal))
    clients[0].onPing = { number in
      guard number == 2 else { return }
      delegate.remove(clients[0])
      if isAddedAgain { delegate.add(clients[0]) }
    }
    delegate.notify(forEach: 1...3) { $0.ping($1) }
    #expect(journal.read() == "a a b b b")
  }

  @Test func aClientReleasedDuringItsEventsReceivesTheRest() {
    var client = Optional(Client("a", journal))
    delegate.add(client!)
    client?.onPing = { _ in client = nil }
    delegate.notify(forEach: 1...3) { $0.ping($1) }
    #expect(journal.read() == "a a a")
    #expect(delegate.isEmpty)
  }

  @Test func mapReturnsAnswersInTheOrderOfTheClients() {
    let names = { (client: any PingProtocol) in (client as? Client)?.name }
    #expect(delegate.map(names) == [])
    let clients = kept(addClients("abc", to: delegate, journal))
    #expect(delegate.map(names) == ["a", "b", "c"])
    let center = MulticastCenter()
    for client in clients.reversed() { center.add(client, for: PingProtocol.self) }
    #expect(center.map(PingProtocol.self, names) == ["c", "b", "a"])
  }

  @Test(arguments: ["notify", "forEach", "map"])
  func theFirstErrorEndsTheDelivery(way: String) {
    let clients = kept(addClients("abc", to: delegate, journal))
    let body = { (client: any PingProtocol) throws(Stop) in
      client.ping(1)
      if client as? Client === clients[1] { throw Stop(name: "b") }
    }
    do throws(Stop) {
      switch way {
      case "notify": try delegate.notify(body)
      case "forEach":
        try delegate.notify(forEach: [1]) { (client, _) throws(Stop) in try body(client) }
      default: _ = try delegate.map(body)
      }
      Issue.record("nothing was thrown")
    } catch {
      // The compiler knows that `error` is a `Stop`.
      #expect(error.name == "b")
    }
    #expect(journal.read() == "a b")
  }

  @Test func aCallSiteCanNotifyAgainAfterAnError() async throws {
    let reports = Reports()
    let center = MulticastCenter(onRecursion: reports.handler)
    center.adding(Client("a", journal))
    center.adding(Client("b", journal))
    func notify(failing: Bool) throws -> Int {
      try center.notify(PingProtocol.self) { _ in if failing { throw Stop(name: "") } }
    }
    for _ in 0..<3 {
      #expect(throws: Stop.self) { try notify(failing: true) }
      #expect(try notify(failing: false) == 2)
    }
    await #expect(throws: Stop(name: "b")) {
      try await center.notify(
        PingProtocol.self, awaiting: { _ async throws(Stop) in throw Stop(name: "b") })
    }
    #expect(reports.all.isEmpty)
  }

  @Test func aClientReleasedByAThrowingBodyIsDeallocated() {
    var client = Optional(Client("a", journal))
    weak var reference: Client?
    reference = client
    delegate.add(client!)
    #expect(throws: Stop.self) {
      try delegate.notify { _ throws(Stop) in
        client = nil
        throw Stop(name: "")
      }
    }
    #expect(reference == nil)
  }
}

private protocol StoreProtocol: Sendable {
  func store(_ number: Int) async throws
}

/// Deliveries with `awaiting:`, and rule 11 for them.
@Suite struct AwaitingNotifyTests {
  /// A client that is an actor, and calls a closure in its call.
  private actor Store: StoreProtocol {
    private let onStore: @Sendable (Int) async throws -> Void
    private(set) var stored: [Int] = []

    init(_ onStore: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
      self.onStore = onStore
    }

    func store(_ number: Int) async throws {
      stored.append(number)
      try await onStore(number)
    }
  }

  let journal = Journal()
  let reports = Reports()
  var center: MulticastCenter { reports.center }

  @discardableResult
  private func adding(_ store: Store) -> Store {
    center.add(kept(store), for: StoreProtocol.self)
    return store
  }

  /// Notifies from one call site, whichever test or client calls this.
  @discardableResult
  private func notify(_ number: Int = 1) async throws -> Int {
    try await center.notify(StoreProtocol.self, awaiting: { try await $0.store(number) })
  }

  @Test func clientsAreAwaitedOneAtATimeInOrder() async throws {
    let stores = (0..<3).map { number in
      adding(
        Store { [journal] _ in
          journal.write("\(number)(")
          for _ in 0..<5 { await Task.yield() }
          journal.write(")")
        })
    }
    #expect(try await notify(7) == 3)
    #expect(journal.read() == "0( ) 1( ) 2( )")
    for store in stores { #expect(await store.stored == [7]) }
  }

  @Test func theBodyRunsInTheCallersActor() async {
    @MainActor func notifyOnMainActor() async -> Int {
      let client = kept(Client("a", journal))
      center.add(client, for: PingProtocol.self)
      var calls = 0
      await center.notify(
        PingProtocol.self,
        awaiting: { client in
          MainActor.assertIsolated()
          client.ping(1)
          calls += 1
          await Task.yield()
          MainActor.assertIsolated()
        })
      return calls
    }
    #expect(await notifyOnMainActor() == 1)
  }

  /// A client in an actor, which suspends during its call.
  private final class Phase {
    let home: any Actor
    private(set) var ranAtHome: [Bool] = []

    init(_ home: any Actor) { self.home = home }

    nonisolated(nonsending) func end() async {
      ranAtHome.append(isAtHome())
      await Task.yield()
      ranAtHome.append(isAtHome())
    }

    private func isAtHome(_ isolation: (any Actor)? = #isolation) -> Bool { isolation === home }
  }

  private actor Home {
    /// Notifies two clients of the actor, and returns where they ran.
    func notify(_ center: MulticastCenter) async -> [Bool] {
      let phases = [Phase(self), Phase(self)]
      for phase in phases { center.add(phase, for: Phase.self) }
      await center.notify(Phase.self, awaiting: { await $0.end() })
      await center[Phase.self].notify(awaiting: { await $0.end() })
      return phases.flatMap(\.ranAtHome)
    }
  }

  @Test func clientsThatSuspendRunInTheCallersActor() async {
    #expect(await Home().notify(center) == Array(repeating: true, count: 8))
  }

  @Test func anAwaitedNotifyRetainsAClientOnlyDuringItsCall() async {
    let delegate = MulticastDelegate<any PingProtocol>()
    var client = Optional(Client("a", journal))
    weak var reference: Client?
    reference = client
    delegate.add(client!)
    // The body does not use the client, so that only the notify retains it.
    let called = await delegate.notify(awaiting: { _ in
      client = nil
      await Task.yield()
      journal.write(reference == nil ? "gone" : "alive")
    })
    #expect(called == 1)
    #expect(journal.read() == "alive")
    #expect(reference == nil)
  }

  @Test func anAwaitedNotifyKeepsItsSnapshotAcrossSuspensions() async throws {
    let late = kept(Store { [journal] _ in journal.write("late") })
    let second = kept(Store { [journal] _ in journal.write("second") })
    let third = kept(Store { [journal] _ in journal.write("third") })
    let first = Store { [center, journal] number in
      journal.write("first")
      await Task.yield()
      center.add(late, for: StoreProtocol.self)
      center.remove(third, for: StoreProtocol.self)
      for _ in 0..<1000 { center.add(Store(), for: StoreProtocol.self) }
      center.remove(second, for: StoreProtocol.self)
    }
    defer { extendLifetime(first) }
    for store in [first, second, third] { center.add(store, for: StoreProtocol.self) }
    #expect(try await notify() == 1)
    #expect(journal.read() == "first")
    #expect(center[StoreProtocol.self].clients.count == 2)
  }

  @Test func theFirstErrorEndsTheNotify() async {
    struct Stop: Error {}
    let stores = [adding(Store()), adding(Store { _ in throw Stop() }), adding(Store())]
    await #expect(throws: Stop.self) { try await notify() }
    #expect(await stores[1].stored == [1])
    #expect(await stores[2].stored == [])
    // The same call site can notify again.
    await #expect(throws: Stop.self) { try await notify() }
    #expect(reports.all.isEmpty)
  }

  // MARK: - Loops

  @Test func aCallSiteInsideItselfInOneTaskIsRefused() async throws {
    let results = Locked<[Int]>([])
    adding(
      Store { _ in
        await Task.yield()
        let result = try await notify()
        results.withLock { $0.append(result) }
      })
    #expect(try await notify() == 1)
    #expect(results.withLock { $0 } == [0])
    let report = try #require(reports.all.first)
    #expect(report.key == "StoreProtocol")
    #expect(report.path.count == 2)
    #expect(report.path[0] == report.path[1])
    #expect(try await notify() == 1)
    #expect(reports.all.count == 2)
  }

  @Test func aLoopThroughASynchronousNotifyIsReportedWithItsWholePath() async throws {
    let client = center.adding(Client("a", journal))
    @Sendable func ping() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    let nested = Locked<[Int]>([])
    client.onPing = { _ in
      let result = ping()
      nested.withLock { $0.append(result) }
    }
    adding(Store { _ in _ = ping() })
    let line = #line + 1
    _ = try await center.notify(StoreProtocol.self, awaiting: { try await $0.store(1) })
    #expect(nested.withLock { $0 } == [0])
    let report = try #require(reports.all.first)
    #expect(report.path.count == 3)
    #expect(report.path[0].line == line)
    #expect(report.path[1] == report.path[2])
  }

  @Test func refuseNestingRefusesASynchronousNotifyInsideAnAwaitedOne() async throws {
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    let result = Locked<Int?>(nil)
    let store = kept(
      Store { _ in
        let called = center.notify(StoreProtocol.self) { _ in }
        result.withLock { $0 = called }
      })
    center.add(store, for: StoreProtocol.self)
    _ = try await center.notify(StoreProtocol.self, awaiting: { try await $0.store(1) })
    #expect(result.withLock { $0 } == 0)
    #expect(reports.all.count == 1)
  }

  @Test func oneCallSiteInSeveralTasksIsNotALoop() async throws {
    for _ in 0..<10 {
      adding(
        Store { number in
          await Task.yield()
          guard number == 1 else { return }
          let called = try await center.notify(
            StoreProtocol.self, awaiting: { try await $0.store(2) })
          #expect(called == 10)
        })
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 {
        group.addTask { try await notify() }
      }
      for try await called in group { #expect(called == 10) }
    }
    #expect(reports.all.isEmpty)
  }

  @Test func aLongChainOfTasksIsNotALoop() async throws {
    // No task of the chain waits for another one, so that each may return before the next one begins, and
    // a new task may have the address of an old one, by which tasks are distinguished.
    let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
    let store = Store { number in
      guard number < 2000 else { return continuation.finish() }
      Task { if try await notify(number + 1) == 0 { continuation.finish() } }
    }
    center.add(store, for: StoreProtocol.self)
    #expect(try await notify(0) == 1)
    for await _ in ends {}
    #expect(reports.all.isEmpty)
    #expect(await store.stored.count == 2001)
  }

  @Test func anAwaitedLoopThroughTwoCentersIsReportedWithItsWholePath() async throws {
    let other = MulticastCenter(onRecursion: reports.handler)
    let results = Locked<[Int]>([])
    let line = #line + 2
    @Sendable func notifyOne() async throws -> Int {
      try await center.notify(StoreProtocol.self, awaiting: { try await $0.store(1) })
    }
    let otherLine = #line + 2
    @Sendable func notifyOther() async throws -> Int {
      try await other.notify(StoreProtocol.self, awaiting: { try await $0.store(2) })
    }
    let calls = Atomic<Int>(0)
    let one = Store { _ in
      // If the loop is not refused, this ends it.
      guard calls.wrappingAdd(1, ordering: .relaxed).newValue < 10 else { return }
      let result = try await notifyOther()
      results.withLock { $0.append(result) }
    }
    let two = Store { _ in
      let result = try await notifyOne()
      results.withLock { $0.append(result) }
    }
    defer { extendLifetime((one, two)) }
    center.add(one, for: StoreProtocol.self)
    other.add(two, for: StoreProtocol.self)
    #expect(try await notifyOne() == 1)
    #expect(results.withLock { $0 } == [0, 1])
    #expect(reports.all.map { $0.path.map(\.line) } == [[line, otherLine, line]])
  }
}

private protocol StockProtocol: Sendable {
  func count() async throws(NoStock) -> Int
}

private struct NoStock: Error, Equatable { let number: Int }

/// `map` with `awaiting:`, which asks clients in other actors.
@Suite struct AwaitingMapTests {
  /// An actor that answers after some suspensions, the more the lower its number is. An odd number may have no stock.
  private actor Stock: StockProtocol {
    private let number: Int
    private let journal: Journal
    private let isEmpty: Bool

    init(_ number: Int, _ journal: Journal, isEmpty: Bool = false) {
      (self.number, self.journal, self.isEmpty) = (number, journal, isEmpty)
    }

    func count() async throws(NoStock) -> Int {
      journal.write("\(number)(")
      for _ in number..<10 { await Task.yield() }
      journal.write(")")
      if isEmpty { throw NoStock(number: number) }
      return number
    }
  }

  let journal = Journal()
  let reports = Reports()
  var center: MulticastCenter { reports.center }

  private func add(_ numbers: [Int], empty: Int? = nil) {
    for number in numbers {
      center.add(kept(Stock(number, journal, isEmpty: number == empty)), for: StockProtocol.self)
    }
  }

  private func map() async throws(NoStock) -> [Int] {
    try await center.map(
      StockProtocol.self,
      awaiting: { (stock) async throws(NoStock) in try await stock.count() })
  }

  @Test func answersComeOneAfterTheOtherInTheOrderOfRegistration() async throws {
    #expect(try await map() == [])
    add([2, 0, 1])
    #expect(try await map() == [2, 0, 1])
    #expect(journal.read() == "2( ) 0( ) 1( )")
    let delegate = center[StockProtocol.self]
    #expect(try await delegate.map(awaiting: { try await $0.count() }) == [2, 0, 1])
  }

  @Test func theFirstErrorEndsTheCallWithItsType() async {
    add([0, 1, 2], empty: 1)
    do throws(NoStock) {
      _ = try await map()
      Issue.record("nothing was thrown")
    } catch {
      // The compiler knows that `error` is a `NoStock`.
      #expect(error.number == 1)
    }
    #expect(journal.read() == "0( ) 1( )")
    // The same call site can ask again.
    await #expect(throws: NoStock(number: 1)) { try await map() }
    #expect(reports.all.isEmpty)
  }

  @Test func aLoopReturnsNoAnswersAndIsReported() async {
    let (nested, line) = (Collected<[Int]>(), #line + 2)
    @Sendable func ask() async -> [Int] {
      await center.map(
        WorkerProtocol.self,
        awaiting: { worker in
          await worker.workSlowly(1)
          return 1
        })
    }
    center.adding(Worker(onSlowWork: { _ in nested.add(await ask()) }))
    #expect(await ask() == [1])
    #expect(nested.all == [[]])
    #expect(reports.all.map { $0.path.map(\.line) } == [[line, line]])
  }

  @Test func theBodyRunsInTheCallersActorAndItsAnswersStayThere() async {
    final class Sum {
      var total = 0
    }
    @MainActor func sum() async -> Int {
      let (sum, worker) = (Sum(), kept(Worker()))
      center.add(worker, for: WorkerProtocol.self)
      let sums = await center.map(
        WorkerProtocol.self,
        awaiting: { _ in
          await Task.yield()
          MainActor.assertIsolated()
          sum.total += 1
          return sum
        })
      return sums.reduce(0) { $0 + $1.total }
    }
    #expect(await sum() == 1)
  }

  @Test func theDeliveryIsReportedAsAwaiting() async {
    let ways = Collected<DeliveryEvent.Way>()
    let center = MulticastCenter(onDelivery: { event in ways.add(event.way) })
    center.adding(Worker())
    #expect(await center.map(WorkerProtocol.self, awaiting: { _ in 7 }) == [7])
    #expect(Set(ways.all) == [.awaiting])
  }
}
