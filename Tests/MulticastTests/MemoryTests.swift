import Testing

@testable import Multicast

/// The parts of rule 3 that speak of memory: churn leaves nothing behind, and nobody has to help.
///
/// Each test measures in a process of its own, in which nothing else runs.
@Suite(.enabled(if: !Process.isSanitized && Process.residentBytes != nil))
struct MemoryTests {
  /// The memory of the process at a moment.
  struct Mark {
    private let bytes = Process.residentBytes ?? 0

    /// Says so if the memory has grown by more than `limit` bytes.
    func expectGrowth(atMost limit: Int, _ what: String) {
      let growth = (Process.residentBytes ?? 0) - bytes
      if growth > limit { StandardError.print("\(what): \(growth) bytes instead of \(limit)") }
    }
  }

  /// Says so if `body` lets the memory grow by more than `limit` megabytes after a first,
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

  // A million registrations are some hundred megabytes if they stay.

  @Test func aMillionClientsThatComeAndGo() async {
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

  @Test func aMillionObserversThatComeAndGo() async {
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

  @Test func listsAndCentersLeaveNothingBehind() async {
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

  @Test func aTaskThatStartsATaskThatNotifiesAndSoOn() async {
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
