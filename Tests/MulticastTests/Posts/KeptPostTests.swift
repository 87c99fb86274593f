import Dispatch
import Multicast
import TestSupport
import Testing

/// Rule 17 of the contract: posts to a protocol that are kept for later clients.
@Suite struct KeptPostTests {
  let center = MulticastCenter()
  let numbers = Numbers()
  let homes = Homes()

  private func keep(_ number: Int, as id: some Hashable & Sendable = "level") {
    _ = center.post(WorkerProtocol.self, keeping: id) { $0.work(number) }
  }

  private func makeWorker() -> Worker { kept(Worker(onWork: { [numbers] in numbers.add($0) })) }

  /// Lets a queue come to its letters.
  private func settle() async {
    await center.postAndWait(WorkerProtocol.self) { _ in }
  }

  // MARK: - Who gets it, and where

  @Test func aClientWithoutAHomeGetsItWhenItIsAdded() {
    keep(1)
    center.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all == [1])
    center.post(WorkerProtocol.self) { $0.work(2) }
    keep(3)
    #expect(numbers.all == [1, 2, 3])
  }

  @Test func aClientOnAQueueGetsItThereBeforeAllOthers() async {
    keep(1)
    let started = Signal()
    homes.one.queue.async { started.wait() }
    let worker = kept(
      Worker(onWork: { [numbers, homes] number in
        #expect(homes.one.isCurrent)
        numbers.add(number)
      }))
    center.add(worker, for: WorkerProtocol.self, on: homes.one.queue)
    center.post(WorkerProtocol.self) { $0.work(2) }
    keep(3)
    #expect(numbers.all == [])
    started.send()
    await settle()
    #expect(numbers.all == [1, 2, 3])
  }

  @MainActor final class Battery: PingProtocol {
    var levels: [Int] = []

    init(_ center: MulticastCenter) {
      center.add(self, for: (any PingProtocol).self, isolation: MainActor.shared)
      #expect(levels == [])
    }

    nonisolated func ping(_ number: Int) { MainActor.assumeIsolated { levels.append(number) } }
  }

  @Test @MainActor func aClientThatAddsItselfIsCalledAfterItsInit() async {
    onNewThread { [center] in _ = center.post(PingProtocol.self, keeping: 0) { $0.ping(1) } }
    let battery = Battery(center)
    #expect(battery.levels == [])
    // A post from the client's home comes after what waits there.
    center.post(PingProtocol.self) { $0.ping(2) }
    #expect(battery.levels == [1, 2])
    let other = Battery(center)
    await center.postAndWait(PingProtocol.self) { _ in }
    #expect(other.levels == [1])
  }

  @MainActor protocol LevelProtocol: AnyObject {
    func levelChanged(_ level: Int)
  }

  @MainActor final class LevelScreen: LevelProtocol {
    var levels: [Int] = []

    func levelChanged(_ level: Int) { levels.append(level) }
  }

  @Test @MainActor func itIsKeptForTheMainActor() async {
    _ = await Task.detached { [center] in
      center.postOnMain((any LevelProtocol).self, keeping: "level") { $0.levelChanged(80) }
    }.value
    let (early, late) = (LevelScreen(), LevelScreen())
    center.add(early, for: (any LevelProtocol).self)
    #expect(early.levels == [])
    center.postOnMain((any LevelProtocol).self, keeping: "level") { $0.levelChanged(70) }
    #expect(early.levels == [80, 70])
    center.add(late, for: (any LevelProtocol).self)
    await center.postOnMainAndWait((any LevelProtocol).self) { $0.levelChanged(60) }
    #expect(early.levels == [80, 70, 60])
    #expect(late.levels == [70, 60])
  }

  @Test func aClientThatIsRegisteredGetsNoSecondOne() {
    keep(1)
    let worker = makeWorker()
    #expect(center.add(worker, for: WorkerProtocol.self))
    #expect(!center.add(worker, for: WorkerProtocol.self))
    #expect(numbers.all == [1])
    center.remove(worker, for: WorkerProtocol.self)
    #expect(center.add(worker, for: WorkerProtocol.self))
    #expect(numbers.all == [1, 1])
  }

  @Test func aRemovedClientDoesNotGetIt() async {
    keep(1)
    let started = Signal()
    homes.one.queue.async { started.wait() }
    let worker = makeWorker()
    center.add(worker, for: WorkerProtocol.self, on: homes.one.queue)
    center.remove(worker, for: WorkerProtocol.self)
    started.send()
    homes.one.queue.sync {}
    #expect(numbers.all == [])
  }

  // MARK: - What is kept

  @Test func eachIDKeepsItsLastPostInTheOrderOfThese() {
    keep(1, as: "one")
    keep(2, as: 2)
    keep(3, as: "three")
    keep(4, as: "one")
    center.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all == [2, 3, 4])
  }

  @Test func whatIsRemovedIsNotKept() {
    keep(1, as: "one")
    keep(2, as: "two")
    #expect(center.removeKept("one", for: WorkerProtocol.self))
    #expect(!center.removeKept("one", for: WorkerProtocol.self))
    #expect(!center.removeKept("two", for: PingProtocol.self))
    center.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all == [2])
    center.removeAll(for: WorkerProtocol.self)
    center.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all == [2])
  }

  @Test func whatItCapturesLivesAsLongAsItIsKept() {
    let alive = Alive()
    for _ in 0..<3 {
      let sentinel = alive.makeSentinel()
      center.post(WorkerProtocol.self, keeping: "level") { _ in extendLifetime(sentinel) }
    }
    #expect(alive.now == 1)
    center.removeKept("level", for: WorkerProtocol.self)
    #expect(alive.now == 0)
  }

  @Test func aRefusedPostIsNotKept() {
    let refusing = MulticastCenter(onRecursion: { _ in })
    let worker = kept(
      Worker(onWork: { number in
        refusing.post(WorkerProtocol.self, keeping: number) { $0.work(number + 1) }
      }))
    refusing.add(worker, for: WorkerProtocol.self)
    refusing.post(WorkerProtocol.self) { $0.work(0) }
    refusing.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all == Array(1...1001))
  }

  @Test func anIDMayUseTheCenterWhereItIsCompared() {
    struct ID: Hashable, Sendable {
      let center: MulticastCenter
      let number: Int

      static func == (one: Self, other: Self) -> Bool {
        one.center.post(WorkerProtocol.self, keeping: "from ==") { $0.work(-1) }
        return one.number == other.number
      }

      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    for number in [1, 2, 1] { keep(number, as: ID(center: center, number: number)) }
    center.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all.filter { $0 > 0 } == [2, 1])
  }

  @Test func whatAnIDHoldsMayUseTheCenterInItsDeinit() {
    final class Held: Hashable, Sendable {
      let end: @Sendable () -> Void
      init(_ end: @escaping @Sendable () -> Void) { self.end = end }
      deinit { end() }
      static func == (one: Held, other: Held) -> Bool { one === other }
      func hash(into hasher: inout Hasher) {}
    }
    let ended = Numbers()
    do {
      let id = Held { [center] in
        center.removeKept("other", for: WorkerProtocol.self)
        ended.add(1)
      }
      keep(1, as: id)
      center.removeKept(id, for: WorkerProtocol.self)
    }
    do { keep(2, as: Held { ended.add(2) }) }
    #expect(ended.all == [1])
    center.removeAll(for: WorkerProtocol.self)
    #expect(ended.all == [1, 2])
  }

  // MARK: - Order

  @Test func itFollowsThePostThatCausesIt() {
    let worker = kept(
      Worker(onWork: { [center, numbers] number in
        numbers.add(number)
        if number == 1 {
          center.post(WorkerProtocol.self, keeping: "level") { $0.work(2) }
          center.removeKept("level", for: WorkerProtocol.self)
          numbers.add(-1)
        }
      }))
    center.add(worker, for: WorkerProtocol.self)
    center.post(WorkerProtocol.self) { $0.work(1) }
    #expect(numbers.all == [1, -1, 2])
    // It is kept when it is delivered.
    center.add(makeWorker(), for: WorkerProtocol.self)
    #expect(numbers.all == [1, -1, 2, 2])
  }

  @Test func aThreadsPostsArriveInOrderWhereAnotherThreadIsCalling() async {
    keep(0)
    let (isCalled, mayReturn) = (Signal(), Signal())
    let worker = kept(
      Worker(onWork: { [numbers] number in
        numbers.add(number)
        guard number == 1 else { return }
        isCalled.send()
        mayReturn.wait()
      }))
    center.add(worker, for: WorkerProtocol.self)
    let first = Task.detached { [center] in
      onNewThread { center.post(WorkerProtocol.self) { $0.work(1) } }
    }
    await isCalled.wait()
    keep(2)
    center.post(WorkerProtocol.self) { $0.work(3) }
    #expect(numbers.all == [0, 1])
    mayReturn.send()
    await first.value
    await settle()
    #expect(numbers.all == [0, 1, 2, 3])
  }

  /// Clients come and go while several threads post, kept and not. Each must hear, of each thread, the last kept
  /// post and then all that follow.
  @Test(arguments: [false, true]) func nothingIsMissingTwiceOrOutOfOrder(isOnQueue: Bool) async {
    let (posters, posts, generations) = (2, 1_000, 40)
    let (center, homes) = (center, homes)
    let all = Locked<[Witness]>([])
    for poster in 0..<posters {
      center.post(WorkerProtocol.self, keeping: poster) { $0.work(poster * 1_000_000) }
    }
    let done = Atomic<Int>(0)
    onThreads(posters + 1) { thread in
      if thread < posters {
        for number in 1...posts {
          let value = thread * 1_000_000 + number
          if number.isMultiple(of: 3) {
            center.post(WorkerProtocol.self) { $0.work(value) }
          } else {
            center.post(WorkerProtocol.self, keeping: thread) { $0.work(value) }
          }
        }
        done.wrappingAdd(1, ordering: .relaxed)
        return
      }
      while done.load(ordering: .relaxed) < posters {
        let witnesses = (0..<generations).map { _ in Witness() }
        for witness in witnesses {
          if isOnQueue {
            center.add(witness, for: WorkerProtocol.self, on: homes.one.queue)
          } else {
            center.add(witness, for: WorkerProtocol.self)
          }
        }
        for witness in witnesses { center.remove(witness, for: WorkerProtocol.self) }
        all.withLock { $0 += witnesses }
      }
    }
    homes.one.queue.sync {}
    for witness in all.withLock({ $0 }) {
      for poster in 0..<posters {
        let heard = witness.numbers(of: poster)
        guard let first = heard.first, let last = heard.last else { continue }
        // A post between the kept one and the registration was not kept for this client.
        let gap = (first + 1).isMultiple(of: 3) && !heard.contains(first + 1)
        #expect(heard == (first...last).filter { !gap || $0 != first + 1 })
        #expect(first == 0 || !first.isMultiple(of: 3))
      }
    }
  }

  private final class Witness: WorkerProtocol {
    private let heard = Locked<[Int]>([])

    func work(_ number: Int) { heard.withLock { $0.append(number) } }

    func numbers(of poster: Int) -> [Int] {
      heard.withLock { $0 }.filter { $0 / 1_000_000 == poster }.map { $0 % 1_000_000 }
    }
  }
}
