import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// A handler that another one with its id replaces. In the same home, the new handler takes its position and its letters.
@Suite struct ReplacementTests {
  let numbers = Numbers()
  let first = kept(Owner())

  let center = MulticastCenter()
  let owner = kept(Owner())
  let homes = Homes()
  var one: TestHome { homes.one }
  var two: TestHome { homes.two }

  private func observe(_ home: HomeKind, _ handle: @escaping @Sendable (Int) -> Void) {
    center.observe(Topic<Int>(), owner: owner, in: home, of: homes, handle)
  }

  @Test(arguments: HomeKind.allCases)
  func waitingMessagesReachTheNewHandlerInTheSameHome(kind: HomeKind) async {
    one.queue.suspend()
    observe(.queue) { number in numbers.add(-number) }
    for number in 1...5 { center.post(Topic<Int>(), number) }
    observe(kind) { number in numbers.add(number) }
    #expect(numbers.all == [])
    center.post(Topic<Int>(), 6)
    one.queue.resume()
    await center.post(Topic<Int>(), 7).delivered()
    #expect(numbers.all == (kind == .queue ? Array(1...7) : [6, 7]))
  }

  @Test func aReplacementKeepsItsPositionInTheSameHomeAndIsLastInAnother() {
    let journal = Journal()
    func observe(_ name: String, id: Int, on queue: DispatchQueue? = nil) {
      if let queue {
        center.observe(Topic<Int>(), owner: owner, id: id, on: queue) { _, _ in journal.write(name)
        }
      } else {
        center.observe(Topic<Int>(), owner: owner, id: id) { _, _ in journal.write(name) }
      }
    }
    one.queue.sync {
      observe("a", id: 1)
      observe("b", id: 2, on: one.queue)
      observe("c", id: 3)
      observe("A", id: 1)
      observe("B", id: 2, on: one.queue)
      center.post(Topic<Int>(), 1)
      #expect(journal.read() == "A c B")
      observe("A", id: 1, on: one.queue)
      observe("B", id: 2)
      center.post(Topic<Int>(), 2)
      #expect(journal.read() == "c B A")
    }
  }

  @Test func messagesWaitingForAnAwaitingHandlerAreDroppedWithIt() async {
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
    await center.post(Topic<Int>(), 4).delivered()
    await center.settled()
    #expect(numbers.all == [1, 40])
  }

  @Test func aReplacementThatAwaitsInAnotherActorDoesNotReceiveWaitingMessages() async {
    let (began, go) = (Signal(), Signal())
    let topic = Topic<Int>()
    center.observe(topic, owner: owner, id: 1) { @MainActor [numbers] _, number in
      began.send()
      await go.wait()
      numbers.add(number)
    }
    center.post(topic, 1)
    center.post(topic, 2)
    await began.wait()
    center.observe(topic, owner: owner, id: 1) { [numbers] _, number in
      await Task.yield()
      numbers.add(10 * number)
    }
    go.send()
    center.post(topic, 3)
    await center.settled()
    #expect(numbers.all.sorted() == [1, 30])
  }

  @Test(arguments: HomeKind.allCases, [HomeKind.none, .queue, .otherQueue])
  func aMessageInDeliveryReachesTheNewHandlerInTheSameHome(
    from: HomeKind, to: HomeKind
  ) async {
    defer { extendLifetime((first, owner)) }
    // This handler replaces the one after it, before that one has been called.
    center.observe(Topic<Int>(), owner: first) { _, number in
      if number == 1 { observe(to) { number in numbers.add(number) } }
    }
    observe(from) { number in numbers.add(-number) }
    center.post(Topic<Int>(), 1)
    await center.post(Topic<Int>(), 2).delivered()
    #expect(numbers.all == (from == to ? [1, 2] : [2]))
  }

  @Test(arguments: HomeKind.allCases, [HomeKind.none, .queue, .otherQueue])
  func aMessageThatFollowsReachesTheNewHandlerInTheSameHome(
    from: HomeKind, to: HomeKind
  ) async {
    center.observe(Topic<String>(), owner: first) { _, _ in
      center.post(Topic<Int>(), 1)
      observe(to) { number in numbers.add(number) }
    }
    observe(from) { number in numbers.add(-number) }
    center.post(Topic<String>(), "go")
    await center.post(Topic<Int>(), 2).delivered()
    #expect(numbers.all == (from == to ? [1, 2] : [2]))
  }

  @Test func aOnceHandlerThatHasBeenCalledPassesNothingOnToANewHandler() async {
    one.queue.suspend()
    center.observe(Topic<Int>(), owner: owner, id: "", once: true) { _, number in
      numbers.add(number)
    }
    center.post(Topic<Int>(), 1)
    center.post(Topic<Int>(), 2)
    observe(.queue) { number in numbers.add(number) }
    one.queue.resume()
    await center.post(Topic<Int>(), 3).delivered()
    #expect(numbers.all == [1, 3])
  }

  @Test func deliveredReturnsWhenTheHandlerIsReplacedMeanwhile() async {
    let (began, go) = (Signal(), Signal())
    center.observe(Topic<Int>(), owner: owner, id: "") { _, number in
      numbers.add(number)
      if number == 1 {
        began.send()
        await go.wait()
      }
    }
    let posters = (1...2).map { number in
      Task {
        if number == 2 { await began.wait() }
        await center.post(Topic<Int>(), number).delivered()
      }
    }
    await began.wait()
    observe(.queue) { number in numbers.add(10 * number) }
    go.send()
    for poster in posters { await poster.value }
    #expect(numbers.all.first == 1)
  }

  @Test func aHandlerReplacedInItsHomeWhileOtherThreadsPostMissesNoMessage() async {
    let posts = Process.rounds(1000, quick: 200)
    observe(.queue) { number in numbers.add(number) }
    onThreads(3) { thread in
      if thread == 2 {
        for _ in 0..<posts / 2 { observe(.queue) { number in numbers.add(number) } }
      } else {
        for number in 0..<posts { center.post(Topic<Int>(), 10_000 * thread + number) }
      }
    }
    await center.post(Topic<Int>(), -1).delivered()
    let all = numbers.all
    let expected = [-1] + (0..<posts) + (10_000..<10_000 + posts)
    #expect(all.sorted() == expected, "missing: \(Set(expected).subtracting(all))")
  }

  @Test func queuesThatAHandlerHasLeftAreReleased() {
    weak var left: DispatchQueue?
    for round in 0..<200 {
      let queue = DispatchQueue(label: "\(round)")
      if round == 0 { left = queue }
      center.observe(Topic<Int>(), owner: owner, id: "", on: queue) { _, _ in }
    }
    #expect(left == nil)
  }

  @Test func anIDCanUseTheCenterInItsComparison() {
    struct ID: Hashable, Sendable {
      let center: MulticastCenter
      static func == (one: ID, other: ID) -> Bool {
        one.center.post(Topic<Int>(), 0)
        return true
      }
      func hash(into hasher: inout Hasher) {}
    }
    for number in 1...2 {
      center.observe(Topic<Int>(), owner: owner, id: ID(center: center)) { _, _ in
        numbers.add(number)
      }
    }
    center.post(Topic<Int>(), 0)
    #expect(numbers.all == [1, 2])
  }

  /// An id that equals every other one. Its `==` first calls a closure.
  private struct SlowID: Hashable, Sendable {
    let beforeComparison: @Sendable () -> Void
    static func == (one: Self, other: Self) -> Bool {
      other.beforeComparison()
      return true
    }
    func hash(into hasher: inout Hasher) {}
  }

  /// One handler is left, even if handlers are registered again and again while ids are compared.
  @Test func aHandlerRegisteredDuringAComparisonOfIDsIsReplaced() {
    let registrations = Locked(0)
    let (center, owner, numbers, queues) = (center, owner, numbers, [one.queue, two.queue])
    let observeMeanwhile: @Sendable () -> Void = {
      let round = registrations.withLock { registrations in
        registrations += 1
        return registrations
      }
      if round > 20 { return }
      center.observe(
        Topic<Int>(), owner: owner, id: SlowID {}, on: queues[round % 2]
      ) { _, number in numbers.add(-number) }
    }
    center.observe(Topic<Int>(), owner: owner, id: SlowID {}) { _, _ in }
    center.observe(Topic<Int>(), owner: owner, id: SlowID(beforeComparison: observeMeanwhile)) {
      _, number in numbers.add(number)
    }
    #expect(registrations.withLock { $0 } > 20)
    #expect(center.post(Topic<Int>(), 1).clients == 1)
    #expect(numbers.all == [1])
  }

  @Test(arguments: [false, true])
  func threadsThatObserveWithOneIDLeaveOneHandler(ofALongList: Bool) {
    for _ in 0..<(ofALongList ? 40 : 0) {
      center.observe(Topic<Int>(), owner: first) { _, _ in }
    }
    let threads = (0..<8).map { DispatchQueue(label: "thread \($0)") }
    for _ in 0..<Process.rounds(20, quick: 3) {
      let all = DispatchGroup()
      for (number, thread) in threads.enumerated() {
        thread.async(group: all) { [center, owner, homes] in
          // A comparison of the first thread takes so long that the other threads often register handlers during it.
          let id = SlowID { if number == 0 { for _ in 0..<20 { Process.letOthersRun() } } }
          for round in 0..<(number == 0 ? 1 : 1_000) {
            let home = [homes.one, homes.two][(number + round) % 2]
            center.observe(Topic<Int>(), owner: owner, id: id, on: home.queue) { _, _ in }
          }
        }
      }
      all.wait()
      #expect(center.removeHandlers(of: Topic<Int>(), owner: owner) == 1)
    }
  }

  /// The boxes that a handler has left in other homes are freed like those of removed handlers.
  @Test func aHandlerThatChangesItsHomeLeavesFewEmptyBoxes() throws {
    for _ in 0..<3 { center.observe(Topic<Int>(), owner: kept(Owner())) { _, _ in } }
    let list = try #require(center.existingList(of: Topic<Int>()))
    for round in 0..<12 {
      observe([.queue, .otherQueue][round % 2]) { _ in }
      #expect(list.boxes.count <= 2 * list.boxes.registered)
    }
  }

  @Test(arguments: [false, true])
  func anObjectReleasedWithItsHandlerCanObserve(keepsLatest: Bool) {
    let topic = Topic<Int>(keepsLatest: keepsLatest)
    let sentinel = Sentinel { [center, owner, numbers] in
      center.observe(topic, owner: owner, id: "") { _, number in numbers.add(number) }
    }
    center.observe(topic, owner: owner, id: "") { [sentinel] _, _ in extendLifetime(sentinel) }
    _ = consume sentinel
    center.observe(topic, owner: owner, id: "") { _, _ in }
    center.post(topic, 1)
    #expect(numbers.all == [1])
  }

  // MARK: - Release of replaced handlers

  @Test func overlappingPostsDoNotRetainReplacedHandlers() {
    let alive = Alive()
    let isOver = Atomic<Bool>(false)
    onThreads(3) { thread in
      // The first thread does this, because it runs even if there are few threads.
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
  func handlersReplacedTenThousandTimesDuringAPostAreReleased(otherHome: HomeKind) {
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
