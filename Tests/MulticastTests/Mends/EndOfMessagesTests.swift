import Dispatch
import Multicast
import TestSupport
import Testing

/// What a message or a body posts in its `deinit` follows the post that released it, once, and is never lost.
@Suite struct EndOfMessagesTests {
  /// Posts another one when it ends.
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

  /// Posts a body that captures another one when it ends.
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

  @Test(arguments: HomeKind.allCases) func theyFollow(home: HomeKind) async {
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

  @Test(arguments: [false, true]) func soDoWhatBodiesCapture(isLate: Bool) async {
    let counter = kept(Counter())
    center[PingProtocol.self].add(counter, on: isLate ? homes.one.queue : nil)
    let rounds = Process.rounds(20_000, quick: 2_000)
    for _ in 0..<rounds { BodyEcho.post(3, to: center) }
    await center.settled()
    #expect(counter.calls == 4 * rounds)
    #expect(reports.all.isEmpty)
  }

  @Test func soTheyDoInACallOfAPost() async {
    let numbers = Numbers()
    center.observe(Topic<Echo>(), owner: owner) { _, echo in numbers.add(echo.depth) }
    center.observe(Topic<Int>(), owner: owner) { [center] _, _ in
      center.post(Topic<Echo>(), Echo(3, center))
      numbers.add(100)
    }
    center.post(Topic<Int>(), 0)
    #expect(numbers.all == [100, 3, 2, 1, 0])
  }

  @Test(arguments: [HomeKind.queue, .mainActor, .task]) func aChainThatDoesNotEndIsRefused(
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
    // The home comes to the first one when the thread that posts has released it: released there last, it would begin
    // another chain.
    await MainActor.run {
      homes.one.queue.suspend()
      onNewThread { [center] in center.post(Topic<Echo>(), Echo(5_000, center)) }
      homes.one.queue.resume()
    }
    go.send()
    await center.settled()
    #expect(reports.all.count == 1)
    // The first, the one that its end posts, and 1,000 that recur.
    #expect(calls.all == Array((5_000 - 1_001...5_000).reversed()))
  }

  @Test func aWaitForAMessageThatPostsAtItsEndReturns() async {
    let calls = Atomic<Int>(0)
    center.observe(Topic<Echo>(), owner: owner, on: homes.one.queue) { _, _ in
      calls.wrappingAdd(1, ordering: .relaxed)
    }
    for _ in 0..<500 { await center.post(Topic<Echo>(), Echo(1, center)).delivered() }
    await center.settled()
    #expect(calls.load(ordering: .relaxed) == 1_000)
  }
}
