import Testing

@testable import Multicast

/// The parts of rule 3 about memory: short-lived clients leave none behind, and the program need not remove them.
///
/// Each test measures in a process of its own, in which no other test runs.
@Suite(.enabled(if: !Process.isSanitized && Process.residentBytes != nil))
struct MemoryTests {
  /// The memory of the process at a moment.
  struct Mark {
    private let bytes = Process.residentBytes ?? 0

    /// Prints a message if the memory has grown by more than `limit` bytes.
    func expectGrowth(atMost limit: Int, _ what: String) {
      let growth = (Process.residentBytes ?? 0) - bytes
      if growth > limit { StandardError.print("\(what): \(growth) bytes instead of \(limit)") }
    }
  }

  /// Prints a message if `body` lets the memory grow by more than `limit` megabytes after a first,
  /// smaller run of it.
  static func expectNoGrowth(
    _ what: String, beyond limit: Int = 5, rounds: Int, _ body: () -> Void
  ) {
    for _ in 0...(rounds / 100) { body() }
    let mark = Mark()
    for _ in 0..<rounds { body() }
    mark.expectGrowth(atMost: limit * 1_000_000, what)
  }

  static func keep(_ count: Int, in delegate: MulticastDelegate<any PingProtocol>) -> [Counter] {
    let clients = (0..<count).map { _ in Counter() }
    defer { extendLifetime(clients) }
    for client in clients { delegate.add(client) }
    return clients
  }

  // If their boxes stayed, a million registrations would take some hundred megabytes.

  @Test func aMillionShortLivedClientsDoNotGrowTheMemory() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let rounds = Process.rounds(1_000_000, quick: 80_000)
      let center = MulticastCenter()
      let delegate = center[PingProtocol.self]
      let lasting = Self.keep(100, in: delegate)
      Self.expectNoGrowth("added and died", rounds: rounds) {
        delegate.add(Counter())
      }
      Self.expectNoGrowth("added and removed", rounds: rounds) {
        let client = Counter()
        defer { extendLifetime(client) }
        center.add(client, for: PingProtocol.self)
        center.remove(client, for: PingProtocol.self)
      }
      delegate.notify { client in
        guard client as AnyObject === lasting[0] else { return }
        Self.expectNoGrowth("died during a notify", rounds: rounds) { delegate.add(Counter()) }
      }
      precondition(delegate.count == lasting.count)
    }
    #expect(text(result) == "")
  }

  @Test func aMillionShortLivedHandlersDoNotGrowTheMemory() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let center = MulticastCenter()
      Self.expectNoGrowth("owners", rounds: Process.rounds(1_000_000, quick: 50_000)) {
        center.observe(.login, owner: Owner()) { _, _ in }
      }
      var number = 0
      Self.expectNoGrowth("names", rounds: Process.rounds(200_000, quick: 30_000)) {
        number += 1
        center.observe(Topic<Int>("\(number)"), owner: Owner()) { _, _ in }
      }
      Self.expectNoGrowth("kept messages", rounds: Process.rounds(180_000, quick: 30_000)) {
        number += 1
        let topic = Topic<Int>("\(number)", keepsLatest: true)
        center.post(topic, number)
        center.removeLatest(of: topic)
      }
      let owner = Owner()
      center.observe(.login, owner: owner) { owner, _ in
        let rounds = Process.rounds(300_000, quick: 40_000)
        Self.expectNoGrowth("cancelled during a post", rounds: rounds) {
          center.observe(.login, owner: owner, id: 1) { _, _ in }.cancel()
        }
      }
      precondition(center.post(.login, Login(id: 1)).clients == 1)
      extendLifetime(owner)
    }
    #expect(text(result) == "")
  }

  @Test func deallocatedListsAndCentersFreeTheirMemory() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      Self.expectNoGrowth("used", rounds: Process.rounds(20_000, quick: 2000)) {
        let center = MulticastCenter()
        let clients = Self.keep(40, in: center[PingProtocol.self])
        center.notify(PingProtocol.self) { $0.ping(1) }
        center.add(clients[0], for: Counter.self)
      }
      Self.expectNoGrowth("empty", beyond: 3, rounds: Process.rounds(300_000, quick: 40_000)) {
        _ = MulticastDelegate<any PingProtocol>()
        _ = MulticastCenter()
      }
    }
    #expect(text(result) == "")
  }

  @Test func aChainOfTasksThatNotifyDoesNotGrowTheMemory() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let delegate = MulticastDelegate<Ticker>()
      let ticker = Ticker(delegate, ticks: Process.rounds(100_000, quick: 30_000))
      delegate.add(ticker)
      await delegate.notify(awaiting: { $0.tick() })
      let mark = Mark()
      for await _ in ticker.end {}
      mark.expectGrowth(atMost: 5_000_000, "a chain of tasks")
    }
    #expect(text(result) == "")
  }
}

/// Each of its calls starts a task that notifies again.
private final class Ticker: Sendable {
  let end: AsyncStream<Void>
  private let delegate: MulticastDelegate<Ticker>
  private let ticksLeft: Atomic<Int>
  private let continuation: AsyncStream<Void>.Continuation

  init(_ delegate: MulticastDelegate<Ticker>, ticks: Int) {
    self.delegate = delegate
    ticksLeft = Atomic(ticks)
    (end, continuation) = AsyncStream.makeStream()
  }

  func tick() {
    guard ticksLeft.wrappingAdd(-1, ordering: .relaxed).newValue > 0 else {
      return continuation.finish()
    }
    Task { await delegate.notify(awaiting: { $0.tick() }) }
  }
}

extension MemoryTests {
  /// Prints a message if many lists retain more than a little memory after `body` has removed or released
  /// nearly all of their five thousand clients. No later `add` reclaims it.
  static func expectReclaimed(
    _ what: String,
    _ body: (_ delegate: MulticastDelegate<any PingProtocol>, _ clients: inout [Counter]) async ->
      Void
  ) async {
    var lists: [MulticastDelegate<any PingProtocol>] = []
    func makeLists(_ count: Int) async {
      for _ in 0..<count {
        let delegate = MulticastDelegate<any PingProtocol>()
        var clients = keep(5000, in: delegate)
        defer { extendLifetime(clients) }
        await body(delegate, &clients)
        lists.append(delegate)
      }
    }
    await makeLists(5)
    let mark = Mark()
    let count = Process.rounds(100, quick: 12)
    await makeLists(count)
    // Five thousand registrations take half a megabyte. Up to a fifth of that may be fragmented.
    mark.expectGrowth(atMost: 120_000 * count, what)
    extendLifetime(lists)
  }

  private struct Stop: Error {}

  @Test func aDeliveryFreesTheBoxesOfDeallocatedClients() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      await Self.expectReclaimed("a notify") { delegate, clients in
        clients.removeLast(4900)
        delegate.notify { $0.ping(1) }
      }
      await Self.expectReclaimed("an awaited notify") { delegate, clients in
        clients.removeAll()
        await delegate.notify(awaiting: { $0.ping(1) })
      }
      await Self.expectReclaimed("a notify that fails") { delegate, clients in
        clients.removeFirst(4900)
        do throws(Stop) {
          try delegate.notify { _ throws(Stop) in throw Stop() }
        } catch {}
      }
      await Self.expectReclaimed("a count") { delegate, clients in
        clients.removeLast(4900)
        precondition(delegate.count == 100)
      }
    }
    #expect(text(result) == "")
  }

  @Test func aRemovalFreesBoxesImmediatelyOrWhenTheNotifyReturns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      await Self.expectReclaimed("one by one") { delegate, clients in
        for client in clients.dropFirst(100) { delegate.remove(client) }
      }
      await Self.expectReclaimed("all") { delegate, _ in delegate.removeAll() }
      await Self.expectReclaimed("one by one, during a notify") { delegate, clients in
        let removed = clients.dropFirst(100)
        let first = clients[0]
        delegate.notify { client in
          guard client as AnyObject === first else { return }
          for client in removed { delegate.remove(client) }
        }
      }
      await Self.expectReclaimed("all, during a notify") { delegate, _ in
        delegate.notify { _ in delegate.removeAll() }
      }
    }
    #expect(text(result) == "")
  }

  @Test func aNotifyFreesReplacedStorageWhenItReturns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      await Self.expectReclaimed("once") { delegate, clients in
        let first = clients[0]
        delegate.notify { client in
          guard client as AnyObject === first else { return }
          // Some clients are deallocated before the list is full, so that it is replaced rather than grown.
          for _ in 0..<12 { _ = Self.keep(1000, in: delegate) }
        }
        clients.removeLast(4900)
        delegate.notify { $0.ping(1) }
      }
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(1000, in: delegate)
      Self.expectNoGrowth(
        "often", beyond: Process.rounds(10, quick: 3), rounds: Process.rounds(1500, quick: 800)
      ) {
        delegate.notify { client in
          guard client as AnyObject === lasting[0] else { return }
          // One at a time, so that at most half of the boxes are empty. If more were, the list would free the old storage
          // together with the empty boxes.
          for _ in 0..<100 { delegate.add(Counter()) }
        }
      }
      precondition(delegate.count == lasting.count)
    }
    #expect(text(result) == "")
  }

  @Test func aNotifyThatThrowsIsNoLongerInProgress() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(10, in: delegate)
      // So many clients that the list replaces its storage if it takes a notify to be in progress.
      func churn() { for _ in 0..<20 { delegate.add(Counter()) } }
      Self.expectNoGrowth("synchronous", beyond: 3, rounds: 4000) {
        do throws(Stop) {
          try delegate.notify { _ throws(Stop) in throw Stop() }
        } catch {}
        churn()
      }
      let mark = Mark()
      for _ in 0..<4000 {
        do throws(Stop) {
          try await delegate.notify(awaiting: { _ async throws(Stop) in throw Stop() })
        } catch {}
        churn()
      }
      mark.expectGrowth(atMost: 3_000_000, "awaited")
      precondition(delegate.count == lasting.count)
    }
    #expect(text(result) == "")
  }

  @Test func aListWithShortLivedClientsHoldsAboutTwiceItsLivingClients() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let scale = Process.rounds(5, quick: 1)
      let lasting = Self.keep(20_000 * scale, in: delegate)
      let mark = Mark()
      // A thousand at a time, so that they have different addresses.
      for _ in 0..<(140 * scale) { _ = Self.keep(1000, in: delegate) }
      // At full size, as many empty boxes as living clients take up to 14 megabytes, and a copy of the living ones, which is
      // made at that moment, another 10. All boxes together would take 95.
      mark.expectGrowth(atMost: 7_000_000 * scale, "churn")
      precondition(delegate.count == lasting.count)
    }
    #expect(text(result) == "")
  }
}
