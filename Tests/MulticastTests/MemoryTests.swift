import Multicast
import Synchronization
import Testing

/// The parts of rule 3 that speak of memory: churn leaves nothing behind, and nobody has to help.
///
/// Each test measures a process of its own, in which nothing else runs.
@Suite(.enabled(if: !Process.isSanitized && Process.residentBytes != nil))
struct MemoryTests {
  /// Fails the process if `body` lets its memory grow by more than `limit` megabytes after a first,
  /// smaller run of it.
  static func expectNoGrowth(beyond limit: Int, rounds: Int, _ body: () -> Void) {
    for _ in 0...(rounds / 100) { body() }
    let before = Process.residentBytes ?? 0
    for _ in 0..<rounds { body() }
    let growth = ((Process.residentBytes ?? 0) - before) / 1_000_000
    precondition(growth <= limit, "memory grew by \(growth) MB")
  }

  static func keep(_ count: Int, in delegate: MulticastDelegate<any PingProtocol>) -> [Counter] {
    let clients = (0..<count).map { _ in Counter() }
    defer { extendLifetime(clients) }
    for client in clients { delegate.add(client) }
    return clients
  }

  // A million registrations are some hundred megabytes if they stay.

  @Test func aMillionClientsThatAreAddedAndDie() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(100, in: delegate)
      Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(1_000_000, quick: 80_000)) {
        delegate.add(Counter())
      }
      precondition(delegate.count == lasting.count)
    }
  }

  @Test func aMillionClientsThatAreAddedAndRemoved() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(1_000_000, quick: 80_000)) {
        let client = Counter()
        defer { extendLifetime(client) }
        center.add(client, for: PingProtocol.self)
        center.remove(client, for: PingProtocol.self)
      }
    }
  }

  @Test func aMillionClientsThatDieDuringANotify() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(100, in: delegate)
      delegate.notify { client in
        guard client as AnyObject === lasting[0] else { return }
        Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(1_000_000, quick: 80_000)) {
          delegate.add(Counter())
        }
      }
      precondition(delegate.count == lasting.count)
    }
  }

  @Test func aTaskThatStartsATaskThatNotifiesAndSoOn() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<Ticker>()
      let ticker = Ticker(delegate, ticks: Process.rounds(100_000, quick: 30_000))
      delegate.add(ticker)
      await delegate.notify(awaiting: { $0.tick() })
      let before = Process.residentBytes ?? 0
      for await _ in ticker.end {}
      let growth = ((Process.residentBytes ?? 0) - before) / 1_000_000
      precondition(growth < 5, "memory grew by \(growth) MB")
    }
  }

  @Test func aNotifyReclaimsWhatItFindsDead() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      Self.expectNoGrowth(beyond: 20, rounds: Process.rounds(100, quick: 30)) {
        // Never so many that an add looks for dead ones after the first time.
        _ = Self.keep(10_000, in: delegate)
        precondition(delegate.notify { $0.ping(1) } == 0)
      }
    }
  }

  @Test func listsAndCentersLeaveNothingBehind() async {
    await #expect(processExitsWith: .success) {
      Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(20_000, quick: 2000)) {
        let center = MulticastCenter()
        let clients = Self.keep(40, in: center[PingProtocol.self])
        center.notify(PingProtocol.self) { $0.ping(1) }
        center.add(clients[0], for: Counter.self)
      }
    }
  }

  @Test func aRegistrationTakesAtMost160Bytes() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let count = Process.rounds(200_000, quick: 100_000)
      let clients = (0..<count).map { _ in Counter() }
      defer { extendLifetime(clients) }
      let before = Process.residentBytes ?? 0
      for client in clients { delegate.add(client) }
      let bytes = ((Process.residentBytes ?? 0) - before) / count
      // The bytes of a debug build's isolation check come on top.
      precondition(bytes <= 160 + 16, "\(bytes) bytes")
      precondition(delegate.count == count)
    }
  }

  // MARK: - Topics

  @Test func aMillionOwnersThatObserveAndDie() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(1_000_000, quick: 50_000)) {
        center.observe(.login, owner: Owner()) { _, _ in }
      }
    }
  }

  @Test func namesAndMessageTypesThatComeAndGo() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      var number = 0
      Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(200_000, quick: 30_000)) {
        number += 1
        center.observe(Topic<Int>("\(number)"), owner: Owner()) { _, _ in }
      }
    }
  }

  @Test func observationsThatAreCancelledDuringAPost() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      let owner = Owner()
      center.observe(.login, owner: owner) { owner, _ in
        Self.expectNoGrowth(beyond: 5, rounds: Process.rounds(300_000, quick: 40_000)) {
          center.observe(.login, owner: owner, id: 1) { _, _ in }.cancel()
        }
      }
      center.post(.login, Login(id: 1))
      extendLifetime(owner)
    }
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
    guard ticksLeft.subtract(1, ordering: .relaxed).newValue > 0 else {
      return continuation.finish()
    }
    Task { await delegate.notify(awaiting: { $0.tick() }) }
  }
}
