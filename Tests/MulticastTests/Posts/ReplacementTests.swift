import Dispatch
import Multicast
import Synchronization
import TestSupport
import Testing

/// A handler that is replaced, in its home or into another one: each message reaches one of them.
@Suite struct ReplacementTests {
  let numbers = Numbers()
  let first = kept(Owner())

  enum Kind: CaseIterable, Sendable {
    case queue, otherQueue, mainActor, none, task
  }

  let center = MulticastCenter()
  let owner = kept(Owner())
  let one = Place("one")
  let two = Place("two")

  private func observe(_ kind: Kind, _ handle: @escaping @Sendable (Int) -> Void) {
    let topic = Topic<Int>()
    switch kind {
    case .queue, .otherQueue, .mainActor:
      let queue = kind == .queue ? one.queue : kind == .otherQueue ? two.queue : .main
      center.observe(topic, owner: owner, id: 1, on: queue) { _, number in handle(number) }
    case .none: center.observe(topic, owner: owner, id: 1) { _, number in handle(number) }
    case .task:
      center.observe(topic, owner: owner, id: 1) { _, number in
        await Task.yield()
        handle(number)
      }
    }
  }

  @Test(arguments: Kind.allCases) func whatWaitsReachesTheNewHandler(kind: Kind) async {
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
    center.observe(Topic<Int>(), owner: owner, id: 1) { _, number in
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

  @Test(arguments: Kind.allCases, [Kind.none, .queue, .otherQueue])
  func aMessageThatIsBeingPostedReachesOneOfBoth(from: Kind, to: Kind) async {
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

  @Test(arguments: Kind.allCases, [Kind.none, .queue, .otherQueue])
  func aMessageThatIsToFollowReachesOneOfBoth(from: Kind, to: Kind) async {
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
    let alive = Atomic<Int>(0)
    let most = Locked(0)
    let isOver = Atomic<Bool>(false)
    onThreads(3) { thread in
      // The first one begins for certain, however few threads there are.
      if thread == 0 {
        for _ in 0..<2000 {
          let count = alive.add(1, ordering: .relaxed).newValue
          most.withLock { $0 = max($0, count) }
          let sentinel = Sentinel { alive.subtract(1, ordering: .relaxed) }
          center.observe(Topic<Int>(), owner: owner, id: 1) { _, _ in extendLifetime(sentinel) }
        }
        isOver.store(true, ordering: .relaxed)
      } else {
        while !isOver.load(ordering: .relaxed) { center.post(Topic<Int>(), 1) }
      }
    }
    #expect(alive.load(ordering: .relaxed) == 1)
    #expect(most.withLock { $0 } < 10)
  }

  @Test(arguments: [false, true])
  func aHandlerThatObservesAgainTenThousandTimesKeepsMemoryBounded(otherHome: Bool) {
    let place = one
    let alive = Atomic<Int>(0)
    let most = Locked(0)
    defer { extendLifetime((first, owner)) }
    center.observe(Topic<Int>(), owner: first) { _, _ in
      for round in 0..<10_000 {
        let count = alive.add(1, ordering: .relaxed).newValue
        most.withLock { $0 = max($0, count) }
        let sentinel = Sentinel { alive.subtract(1, ordering: .relaxed) }
        if otherHome, round.isMultiple(of: 2) {
          center.observe(Topic<Int>(), owner: owner, id: 1, on: place.queue) { _, _ in
            extendLifetime(sentinel)
          }
        } else {
          center.observe(Topic<Int>(), owner: owner, id: 1) { _, _ in extendLifetime(sentinel) }
        }
      }
    }
    center.post(Topic<Int>(), 1)
    #expect(alive.load(ordering: .relaxed) == 1)
    #expect(most.withLock { $0 } < 10)
  }
}
