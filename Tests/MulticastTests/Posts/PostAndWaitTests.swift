import Dispatch
import Multicast
import TestSupport
import Testing

/// `postAndWait` returns when everybody had the post.
@Suite struct PostAndWaitTests {
  let numbers = Numbers()
  let owner = kept(Owner())
  let place = Place()
  let center = MulticastCenter()
  let journal = Journal()

  @Test func itReturnsWhenAllClientsWereCalled() async {
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let clients = (0..<2).map { _ in
      Worker(
        onWork: { number in numbers.add(number) },
        onSlowWork: { number in
          for _ in 0..<20 { await Task.yield() }
          numbers.add(number)
        })
    }
    defer { extendLifetime(clients) }
    delegates.add(clients[0])
    delegates.add(clients[1], on: place.queue)
    #expect(await delegates.postAndWait { $0.work(1) } == 2)
    #expect(numbers.all == [1, 1])
    #expect(await delegates.postAwaitingAndWait { await $0.workSlowly(2) } == 2)
    #expect(numbers.all == [1, 1, 2, 2])
  }

  @Test @MainActor func itReturnsWhenAllHandlersWereCalled() async {
    actor Store {
      var numbers: [Int] = []
    }
    let screen = Screen()
    let store = Store()
    let topic = Topic<Int>("latest", keepsLatest: true)
    center.observe(topic, owner: screen) { screen, number in screen.shown.append(number) }
    center.observe(topic, owner: store) { (store: isolated Store, number) in
      store.numbers.append(number)
    }
    center.observe(topic, owner: owner, on: place.queue) { _, number in numbers.add(number) }
    center.observe(topic, owner: owner) { @Sendable _, number in
      for _ in 0..<20 { await Task.yield() }
      numbers.add(number)
    }
    #expect(await center.postAndWait(topic, 1) == 4)
    #expect(screen.shown == [1])
    #expect(await store.numbers == [1])
    #expect(numbers.all == [1, 1])
  }

  @Test func withNobodyToWaitForItReturns() async {
    let delegates = MulticastDelegate<any WorkerProtocol>()
    #expect(await delegates.postAndWait { $0.work(1) } == 0)
    #expect(await delegates.postAwaitingAndWait { await $0.workSlowly(1) } == 0)
    #expect(await center.postAndWait(Topic<Int>(), 1) == 0)
    #expect(await center.postAndWait(Topic<Int>("latest", keepsLatest: true), 1) == 0)
    do {
      let client = Worker()
      delegates.add(client)
    }
    #expect(await delegates.postAwaitingAndWait { await $0.workSlowly(1) } == 0)
  }

  @Test func aCancelledTaskGoesOnWaiting() async {
    center.observe(Topic<Int>(), owner: owner, on: place.queue) { _, number in numbers.add(number) }
    place.queue.suspend()
    let began = Signal()
    let waiting = Task {
      began.send()
      withUnsafeCurrentTask { $0?.cancel() }
      await center.postAndWait(Topic<Int>(), 1)
      return numbers.all
    }
    await began.wait()
    place.queue.resume()
    #expect(await waiting.value == [1])
  }

  @Test func aRefusedPostIsNotWaitedFor() async {
    let reports = Reports()
    let center = reports.center
    center.observe(Topic<Int>(), owner: owner) { _, number in
      if number < 2000 { await center.postAndWait(Topic<Int>(), number + 1) }
    }
    await center.postAndWait(Topic<Int>(), 0)
    while reports.all.isEmpty { await Task.yield() }
    #expect(reports.all.count == 1)
  }

  // MARK: - Those who wait for each other

  @Test(arguments: [true, false]) func handlersThatWaitForEachOtherReturn(inOneCenter: Bool) async {
    let (one, two) = (Topic<Int>("one"), Topic<Int>("two"))
    let other = inOneCenter ? center : MulticastCenter()
    center.observe(one, owner: owner) { _, number in
      numbers.add(number)
      if number < 10 { await other.postAndWait(two, number + 1) }
    }
    other.observe(two, owner: owner) { _, number in
      numbers.add(number)
      if number < 10 { await center.postAndWait(one, number + 1) }
    }
    await center.postAndWait(one, 0)
    await numbers.wait(for: 11)
    #expect(numbers.all == Array(0...10))
  }

  @Test func clientsThatWaitForEachOtherReturn() async {
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let others = MulticastDelegate<any WorkerProtocol>()
    let one = Worker(onSlowWork: { number in
      numbers.add(number)
      if number < 10 { await others.postAwaitingAndWait { await $0.workSlowly(number + 1) } }
    })
    let two = Worker(onSlowWork: { number in
      numbers.add(number)
      if number < 10 { await delegates.postAwaitingAndWait { await $0.workSlowly(number + 1) } }
    })
    defer { extendLifetime((one, two)) }
    delegates.add(one)
    others.add(two)
    await delegates.postAwaitingAndWait { await $0.workSlowly(0) }
    await numbers.wait(for: 11)
    #expect(numbers.all == Array(0...10))
  }

  @Test func handlersThatBeginToWaitForEachOtherAtOnceReturn() async {
    let running = Atomic<Int>(0)
    let topics = [Topic<Int>("one"), Topic<Int>("two")]
    for (topic, other) in zip(topics, topics.reversed()) {
      center.observe(topic, owner: owner) { _, number in
        if number == 0 {
          running.wrappingAdd(1, ordering: .acquiringAndReleasing)
          while running.load(ordering: .acquiring) < 2 { await Task.yield() }
          await center.postAndWait(other, 1)
        }
        numbers.add(number)
      }
    }
    async let first = center.postAndWait(topics[0], 0)
    async let second = center.postAndWait(topics[1], 0)
    #expect(await first == 1)
    #expect(await second == 1)
    for topic in topics { await center.postAndWait(topic, 2) }
    #expect(numbers.all.sorted() == [0, 0, 1, 1, 2, 2])
  }

  @Test func aTaskThatOutlivesItsHandlerWaitsForTheHandlerAgain() async {
    let (returned, done) = (Signal(), Signal())
    center.observe(.login, owner: owner) { _, login in
      guard login.id == 1 else {
        for _ in 0..<20 { await Task.yield() }
        return journal.write("handled")
      }
      Task {
        await returned.wait()
        await center.postAndWait(.login, Login(id: 2))
        journal.write("returned")
        done.send()
      }
    }
    await center.postAndWait(.login, Login(id: 1))
    returned.send()
    await done.wait()
    #expect(journal.read() == "handled returned")
  }

  @Test func aWaitThatIsNoCircleIsWaitedForAlthoughAnOlderOneIsOpen() async {
    let (secondBegan, firstReturned) = (Signal(), Signal())
    let one = Topic<Int>("one")
    let two = Topic<Int>("two")
    center.observe(one, owner: owner) { _, number in
      switch number {
      case 1:
        // A task that goes on waiting after this call.
        Task { await center.postAndWait(two, 1) }
        await secondBegan.wait()
      case 2:
        // It waits for nobody, and ends by itself.
        firstReturned.send()
        for _ in 0..<100 { await Task.yield() }
      default:
        for _ in 0..<100 { await Task.yield() }
        journal.write("handled")
      }
    }
    center.observe(two, owner: owner) { _, _ in
      secondBegan.send()
      await firstReturned.wait()
      // The first handler waits for nobody any more.
      await center.postAndWait(one, 3)
      journal.write("returned")
    }
    center.post(one, 1)
    center.post(one, 2)
    await firstReturned.wait()
    await center.postAndWait(two, 2)
    #expect(journal.read().hasPrefix("handled returned"))
  }

  @Test func aWaitForWhatIsPostedInACallOfAPostReturns() async {
    let done = Signal()
    center.observe(Topic<Int>(), owner: owner) { _, number in numbers.add(number) }
    center.observe(Topic<String>(), owner: owner) { _, _ in
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        Task.immediate {
          await center.postAndWait(Topic<Int>(), 1)
          numbers.add(2)
          done.send()
        }
      }
      numbers.add(0)
    }
    center.post(Topic<String>(), "go")
    await done.wait()
    #expect(numbers.all == [0, 1, 2])
  }
}
