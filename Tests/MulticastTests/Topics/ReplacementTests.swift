import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// A handler that is replaced under its id: in its home it passes on its place and what waits, elsewhere it ends.
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

  @Test(arguments: HomeKind.allCases)
  func whatWaitsReachesTheNewHandlerInTheSameHome(kind: HomeKind) async {
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

  @Test func aHandlerKeepsItsPlaceInTheSameHomeAndIsTheLastInAnother() {
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

  @Test func whatIsUnderWayForATaskEndsWithTheOldHandler() async {
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
    #expect(numbers.all == [1, 40])
  }

  @Test(arguments: HomeKind.allCases, [HomeKind.none, .queue, .otherQueue])
  func aMessageThatIsBeingPostedReachesTheNewHandlerInTheSameHome(
    from: HomeKind, to: HomeKind
  ) async {
    defer { extendLifetime((first, owner)) }
    // It replaces the handler that comes after it, whose turn it is not yet.
    center.observe(Topic<Int>(), owner: first) { _, number in
      if number == 1 { observe(to) { number in numbers.add(number) } }
    }
    observe(from) { number in numbers.add(-number) }
    center.post(Topic<Int>(), 1)
    await center.post(Topic<Int>(), 2).delivered()
    #expect(numbers.all == (from == to ? [1, 2] : [2]))
  }

  @Test(arguments: HomeKind.allCases, [HomeKind.none, .queue, .otherQueue])
  func aMessageThatIsToFollowReachesTheNewHandlerInTheSameHome(
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

  @Test func aOnceHandlerThatHasEndedIsNotReplacedInAnotherHome() async {
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

  @Test func twoPostersThatWaitReturnWhenAHandlerIsReplacedMeanwhile() async {
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

  @Test func aHandlerThatIsReplacedInItsHomeWhileOthersPostMissesNothing() async {
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

  @Test func queuesThatAHandlerHasLeftAreForgotten() {
    weak var left: DispatchQueue?
    for round in 0..<200 {
      let queue = DispatchQueue(label: "\(round)")
      if round == 0 { left = queue }
      center.observe(Topic<Int>(), owner: owner, id: "", on: queue) { _, _ in }
    }
    #expect(left == nil)
  }

  @Test func idsMayUseTheCenterWhereTheyAreCompared() {
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

  /// An id that equals every other one. Its `==` runs code before.
  private struct SlowID: Hashable, Sendable {
    let beforeComparison: @Sendable () -> Void
    static func == (one: Self, other: Self) -> Bool {
      other.beforeComparison()
      return true
    }
    func hash(into hasher: inout Hasher) {}
  }

  /// However often another call registers a handler while ids are compared, one handler is left.
  @Test func aHandlerThatIsRegisteredDuringTheComparisonIsReplacedToo() {
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
  func threadsThatObserveUnderOneIDLeaveOneHandler(ofALongList: Bool) {
    for _ in 0..<(ofALongList ? 40 : 0) {
      center.observe(Topic<Int>(), owner: first) { _, _ in }
    }
    let threads = (0..<8).map { DispatchQueue(label: "thread \($0)") }
    for _ in 0..<Process.rounds(20, quick: 3) {
      let all = DispatchGroup()
      for (number, thread) in threads.enumerated() {
        thread.async(group: all) { [center, owner, homes] in
          // A comparison of the first thread takes so long that the others register meanwhile, often.
          let id = SlowID { if number == 0 { for _ in 0..<20 { Process.letOthersRun() } } }
          for round in 0..<(number == 0 ? 1 : 1_000) {
            let home = [homes.one, homes.two][(number + round) % 2]
            center.observe(Topic<Int>(), owner: owner, id: id, on: home.queue) { _, _ in }
          }
        }
      }
      all.wait()
      #expect(center.removeObservers(of: Topic<Int>(), owner: owner) == 1)
    }
  }

  /// The boxes that a handler has left, in other homes, are dropped like those of removed handlers.
  @Test func aHandlerThatMovesLeavesFewEmptyBoxes() throws {
    for _ in 0..<3 { center.observe(Topic<Int>(), owner: kept(Owner())) { _, _ in } }
    let list = try #require(center.existingList(of: Topic<Int>()))
    for round in 0..<12 {
      observe([.queue, .otherQueue][round % 2]) { _ in }
      #expect(list.boxes.count <= 2 * list.boxes.registered)
    }
  }

  @Test func whatAReleasedHandlerHoldsMayObserve() {
    let sentinel = Sentinel { [center, owner, numbers] in
      center.observe(Topic<Int>(), owner: owner, id: "") { _, number in numbers.add(number) }
    }
    observe(.none) { [sentinel] _ in extendLifetime(sentinel) }
    _ = consume sentinel
    observe(.none) { _ in }
    center.post(Topic<Int>(), 1)
    #expect(numbers.all == [1])
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

/// Handlers: `once:`, and owners with many of them.
@Suite struct ObserverMendTests {
  let owner = kept(Owner())
  let center = MulticastCenter()

  @Test(arguments: [false, true]) func aPostInTheLastCallDoesNotCountTheHandler(awaits: Bool) async
  {
    let counts = Numbers()
    let post: @Sendable (Login) -> Void = { [center] login in
      counts.add(center.post(.login, Login(id: login.id + 1)).clients)
    }
    if awaits {
      center.observe(.login, owner: owner, once: true) { _, login in
        await Task.yield()
        post(login)
      }
    } else {
      center.observe(.login, owner: owner, once: true) { _, login in post(login) }
    }
    center.post(.login, Login(id: 1))
    await counts.wait(for: 1)
    await center.settled()
    #expect(counts.all == [0])
  }

  /// One more handler of an owner is compared with few others, however many there are.
  @Test func oneMoreHandlerOfAnOwnerTakesNoLonger() {
    struct ID: Hashable, Sendable {
      static let comparisons = Atomic<Int>(0)
      let number: Int
      static func == (one: Self, other: Self) -> Bool {
        comparisons.wrappingAdd(1, ordering: .relaxed)
        return one.number == other.number
      }
      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    for number in 0..<5_000 {
      center.observe(.login, owner: owner, id: ID(number: number)) { _, _ in }
    }
    #expect(ID.comparisons.load(ordering: .relaxed) < 2 * 5_000)
  }

  /// Owners with several handlers in a long list, with and without ids, against a model.
  @Test func ownersLoseTheirHandlers() {
    let (called, owners) = (Numbers(), (0..<200).map { _ in kept(Owner()) })
    var registered = [[(number: Int, id: Int?, token: TopicObservation)]](repeating: [], count: 200)
    for step in 0..<8_000 {
      let index = step &* 7_919 / 13 % owners.count
      switch step % 17 {
      case 0:
        let count = center.removeObservers(of: .login, owner: owners[index])
        #expect(count == registered[index].count)
        registered[index] = []
      case 1:
        #expect(center.remove(owners[index]) == registered[index].count)
        registered[index] = []
      case 2, 3, 4:
        guard let handler = registered[index].randomElement() else { continue }
        handler.token.cancel()
        registered[index].removeAll { $0.number == handler.number }
      default:
        let id = step % 3 == 0 ? nil : step % 5
        let token = center.observe(.login, owner: owners[index], id: id) { _, _ in called.add(step)
        }
        registered[index].removeAll { id != nil && $0.id == id }
        registered[index].append((step, id, token))
      }
      if step % 500 != 499 { continue }
      center.post(.login, Login(id: step))
      #expect(called.take().sorted() == registered.joined().map(\.number).sorted())
    }
  }

  /// Counts the boxes that a search looks at.
  @Test func aSearchMeetsTheBoxesOfOneOwner() {
    final class CountingBox: WeakBox, @unchecked Sendable {
      static let looks = Atomic<Int>(0)
      override var key: UInt {
        Self.looks.wrappingAdd(1, ordering: .relaxed)
        return identity
      }
    }
    var index = BoxIndex(byClient: false)
    var boxes = Boxes()
    let owners = (0..<1_000).map { _ in Owner() }
    for handlers in [1, 1, 500, 1] {
      for owner in handlers == 1 ? owners[...] : owners[..<1] {
        for _ in 0..<handlers {
          boxes.append(CountingBox(owner, at: nil))
          index.insertLast(of: boxes)
        }
      }
    }
    #expect(CountingBox.looks.load(ordering: .relaxed) < 20 * boxes.count)
    for (place, owner) in owners.enumerated() {
      CountingBox.looks.store(0, ordering: .relaxed)
      let found = index.all(ObjectIdentifier(owner).address, in: boxes)
      #expect(found.count == (place == 0 ? 503 : 3))
      for box in found {
        index.skip(box, in: boxes)
        _ = box.empty()
      }
      #expect(index.all(ObjectIdentifier(owner).address, in: boxes).isEmpty)
      #expect(CountingBox.looks.load(ordering: .relaxed) < 50 * found.count)
    }
  }

  /// Counts the boxes that a search for an id looks at, beside many boxes without one.
  @Test(arguments: [0, 1]) func aSearchForAnIDPassesNoHandlersWithoutOne(withKeys: Int) {
    final class CountingBox: WeakBox, @unchecked Sendable {
      static let looks = Locked<[UInt: Int]>([:])
      private let own: UInt
      private let test: UInt
      init(_ owner: Owner, key: UInt, test: UInt) {
        (own, self.test) = (key, test)
        super.init(owner, at: nil)
      }
      override var key: UInt {
        Self.looks.withLock { $0[test, default: 0] += 1 }
        return own
      }
    }
    let list = ClientList(.listener(AnyObject.self))
    let test = UInt(withKeys)
    for number in 0..<1_000 {
      let box = CountingBox(owner, key: number < withKeys ? 7 : 0, test: test)
      while list.register(box, among: nil, replacing: nil) == .full { _ = list.makeRoom() }
    }
    let before = CountingBox.looks.withLock { $0[test]! }
    #expect(list.boxes(with: 7).count == withKeys)
    #expect(CountingBox.looks.withLock { $0[test]! } - before < 10)
  }

  /// A removal of an object visits the topics that it observes. In each one visited, it finds handlers of deallocated owners.
  @Test func aRemovalVisitsItsOwnTopicsOnly() {
    let topics = (0..<100).map { Topic<Int>("topic \($0)") }
    let ends = Atomic<Int>(0)
    let closing = Owner()
    for topic in topics {
      let passing = Owner()
      let sentinel = Sentinel { ends.wrappingAdd(1, ordering: .relaxed) }
      center.observe(topic, owner: passing) { _, _ in extendLifetime(sentinel) }
      center.observe(topic, owner: self.owner, id: "keeps") { _, _ in }
      extendLifetime(passing)
    }
    for topic in [topics[0], topics[7], topics[70]] {
      center.observe(topic, owner: closing) { _, _ in }
      center.observe(topic, owner: closing) { _, _ in }
    }
    let before = ends.load(ordering: .relaxed)
    #expect(center.remove(closing) == 6)
    #expect(center.remove(closing) == 0)
    #expect(ends.load(ordering: .relaxed) - before <= 3)
    center.observe(topics[8], owner: closing) { _, _ in }
    #expect(center.remove(closing) == 1)
    #expect(center.remove(owner) == 100)
  }

  @Test func aHandlerRemovesItsOwnerFromATopicThatItBeginsToObserve() {
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    let topic = Topic<Int>("late", keepsLatest: true)
    center.post(topic, 1)
    let calls = Numbers()
    center.observe(topic, owner: owner) { [center] owner, number in
      calls.add(number)
      center.remove(owner)
    }
    center.post(topic, 2)
    #expect(calls.all == [1])
  }

  /// However many objects and topics come and go, what a center knows of them is bounded by those in use.
  @Test func whoObservedIsForgotten() {
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    let lasting = Topic<Int>("lasting")
    center.observe(lasting, owner: owner) { _, _ in }
    let registry = TopicRegistry(first: TopicList(lasting, office: center.office, site: CallSite()))
    for number in 0..<2_000 {
      let passing = Owner()
      for topic in [Topic<Int>("other"), Topic<Int>("other \(number)")] {
        _ = registry.refer(to: topic, for: passing, from: CallSite())
          .observe(
            passing, nil,
            Handler(.called { _, _ in }, once: false, newestOnly: false, at: CallSite()),
            at: nil)
      }
    }
    #expect(registry.observedCount <= 64)
    #expect(registry.topics.count <= 64)
  }
}
