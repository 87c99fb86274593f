import Dispatch
import Multicast
import Synchronization
import TestSupport
import Testing

/// A handler that is replaced, in its home or into another one: each message reaches one of them.
@Suite struct ReplacementTests {
  let numbers = Numbers()
  let first = kept(Owner())

  let center = MulticastCenter()
  let owner = kept(Owner())
  let homes = Homes()
  var one: Place { homes.one }
  var two: Place { homes.two }

  private func observe(_ home: HomeKind, _ handle: @escaping @Sendable (Int) -> Void) {
    center.observe(Topic<Int>(), owner: owner, in: home, of: homes, handle)
  }

  @Test(arguments: HomeKind.allCases) func whatWaitsReachesTheNewHandler(kind: HomeKind) async {
    one.queue.suspend()
    observe(.queue) { number in numbers.add(-number) }
    for number in 1...5 { center.post(Topic<Int>(), number) }
    observe(kind) { number in numbers.add(number) }
    if kind == .none { #expect(numbers.all == Array(1...5)) }
    center.post(Topic<Int>(), 6)
    one.queue.resume()
    await center.postAndWait(Topic<Int>(), 7)
    #expect(numbers.all == Array(1...7))
  }

  @Test func aHandlerMayMoveThroughAllHomes() async {
    one.queue.suspend()
    two.queue.suspend()
    observe(.queue) { number in numbers.add(-number) }
    for number in 1...3 { center.post(Topic<Int>(), number) }
    observe(.otherQueue) { number in numbers.add(-number) }
    for number in 4...6 { center.post(Topic<Int>(), number) }
    observe(.queue) { number in numbers.add(-number) }
    observe(.otherQueue) { number in numbers.add(number) }
    one.queue.resume()
    two.queue.resume()
    await center.postAndWait(Topic<Int>(), 7)
    #expect(numbers.all == Array(1...7))
  }

  @Test func whatIsUnderWayForATaskReachesTheNewHandler() async {
    let (began, go) = (Signal(), Signal())
    center.observe(Topic<Int>(), owner: owner, id: "") { _, number in
      numbers.add(number)
      began.send()
      await go.wait()
    }
    for number in 1...3 { center.post(Topic<Int>(), number) }
    await began.wait()
    observe(.queue) { number in numbers.add(10 * number) }
    go.send()
    await center.postAndWait(Topic<Int>(), 4)
    #expect(numbers.all == [1, 20, 30, 40])
  }

  @Test(arguments: HomeKind.allCases, [HomeKind.none, .queue, .otherQueue])
  func aMessageThatIsBeingPostedReachesOneOfBoth(from: HomeKind, to: HomeKind) async {
    defer { extendLifetime((first, owner)) }
    // It replaces the handler that comes after it, whose turn it is not yet.
    center.observe(Topic<Int>(), owner: first) { _, number in
      if number == 1 { observe(to) { number in numbers.add(number) } }
    }
    observe(from) { number in numbers.add(number) }
    center.post(Topic<Int>(), 1)
    await center.postAndWait(Topic<Int>(), 2)
    await numbers.wait(for: 1)
    #expect(numbers.all == [1, 2])
  }

  @Test(arguments: HomeKind.allCases, [HomeKind.none, .queue, .otherQueue])
  func aMessageThatIsToFollowReachesOneOfBoth(from: HomeKind, to: HomeKind) async {
    center.observe(Topic<String>(), owner: first) { _, _ in
      center.post(Topic<Int>(), 1)
      observe(to) { number in numbers.add(number) }
    }
    observe(from) { number in numbers.add(number) }
    center.post(Topic<String>(), "go")
    await center.postAndWait(Topic<Int>(), 2)
    #expect(numbers.all == [1, 2])
  }

  @Test func aHandlerThatIsReplacedAgainAndAgainWhileOthersPostMissesNothing() async {
    let posts = Process.rounds(1000, quick: 200)
    observe(.queue) { number in numbers.add(number) }
    onThreads(3) { thread in
      if thread == 2 {
        for round in 0..<posts / 2 {
          observe(round.isMultiple(of: 2) ? .otherQueue : .queue) { number in numbers.add(number) }
        }
      } else {
        for number in 0..<posts { center.post(Topic<Int>(), 10_000 * thread + number) }
      }
    }
    await center.postAndWait(Topic<Int>(), -1)
    let all = numbers.all
    let expected = [-1] + (0..<posts) + (10_000..<10_000 + posts)
    #expect(all.sorted() == expected, "missing: \(Set(expected).subtracting(all))")
  }

  // MARK: - What is replaced ends

  @Test func overlappingPostsKeepNoReplacedHandlerAlive() {
    let alive = Alive()
    let isOver = Atomic<Bool>(false)
    onThreads(3) { thread in
      // The first one begins for certain, however few threads there are.
      if thread == 0 {
        for _ in 0..<2000 {
          let sentinel = alive.makeSentinel()
          observe(.none) { _ in extendLifetime(sentinel) }
        }
        isOver.store(true, ordering: .relaxed)
      } else {
        while !isOver.load(ordering: .relaxed) { center.post(Topic<Int>(), 1) }
      }
    }
    #expect(alive.now == 1)
    #expect(alive.most < 10)
  }

  @Test(arguments: [HomeKind.none, .queue])
  func aHandlerThatObservesAgainTenThousandTimesKeepsMemoryBounded(otherHome: HomeKind) {
    let alive = Alive()
    defer { extendLifetime((first, owner)) }
    center.observe(Topic<Int>(), owner: first) { _, _ in
      for round in 0..<10_000 {
        let sentinel = alive.makeSentinel()
        observe(round.isMultiple(of: 2) ? otherHome : .none) { _ in extendLifetime(sentinel) }
      }
    }
    center.post(Topic<Int>(), 1)
    #expect(alive.now == 1)
    #expect(alive.most < 10)
  }
}
