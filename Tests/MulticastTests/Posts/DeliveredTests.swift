import Dispatch
import Multicast
import TestSupport
import Testing

/// `delivered()` returns when all calls that a post makes have returned.
@Suite struct DeliveredTests {
  let numbers = Numbers()
  let owner = kept(Owner())
  let testHome = TestHome()
  let center = MulticastCenter()
  let journal = Journal()

  @Test func deliveredReturnsWhenAllClientsHaveReturned() async {
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
    delegates.add(clients[1], on: testHome.queue)
    #expect(await delegates.post { $0.work(1) }.delivered() == 2)
    #expect(numbers.all == [1, 1])
    #expect(await delegates.post(awaiting: { await $0.workSlowly(2) }).delivered() == 2)
    #expect(numbers.all == [1, 1, 2, 2])
  }

  @Test @MainActor func deliveredReturnsWhenAllHandlersHaveReturned() async {
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
    center.observe(topic, owner: owner, on: testHome.queue) { _, number in numbers.add(number) }
    center.observe(topic, owner: owner) { @Sendable _, number in
      for _ in 0..<20 { await Task.yield() }
      numbers.add(number)
    }
    #expect(await center.post(topic, 1).delivered() == 4)
    #expect(screen.shown == [1])
    #expect(await store.numbers == [1])
    #expect(numbers.all == [1, 1])
  }

  @Test func deliveredReturnsWithoutListeners() async {
    let delegates = MulticastDelegate<any WorkerProtocol>()
    #expect(await delegates.post { $0.work(1) }.delivered() == 0)
    #expect(await delegates.post(awaiting: { await $0.workSlowly(1) }).delivered() == 0)
    #expect(await center.post(Topic<Int>(), 1).delivered() == 0)
    #expect(await center.post(Topic<Int>("latest", keepsLatest: true), 1).delivered() == 0)
    do {
      let client = Worker()
      delegates.add(client)
    }
    #expect(await delegates.post(awaiting: { await $0.workSlowly(1) }).delivered() == 0)
  }

  @Test func deliveredWaitsInACancelledTask() async {
    center.observe(Topic<Int>(), owner: owner, on: testHome.queue) { _, number in
      numbers.add(number)
    }
    testHome.queue.suspend()
    let began = Signal()
    let waiting = Task {
      began.send()
      withUnsafeCurrentTask { $0?.cancel() }
      await center.post(Topic<Int>(), 1).delivered()
      return numbers.all
    }
    await began.wait()
    testHome.queue.resume()
    #expect(await waiting.value == [1])
  }

  @Test func deliveredReturnsForARefusedPost() async {
    let (reports, returned) = (Reports(), Signal())
    let center = reports.center
    center.observe(Topic<Int>(), owner: owner) { _, number in
      let posted = center.post(Topic<Int>(), number + 1)
      if posted.clients > 0 { return }
      await posted.delivered()
      returned.send()
    }
    await center.post(Topic<Int>(), 0).delivered()
    await returned.wait()
    #expect(reports.all.count == 1)
  }

  // MARK: - Handlers that wait for each other

  @Test func deliveredOfAPostToTheHandlerItselfReturnsImmediatelyAndWarns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let (center, owner, numbers) = (MulticastCenter(), kept(Owner()), Numbers())
      center.observe(Topic<Int>(), owner: owner) { @Sendable _, number in
        if number == 1 { await center.post(Topic<Int>(), 2).delivered() }
        numbers.add(number)
      }
      await center.post(Topic<Int>(), 1).delivered()
      await numbers.wait(for: 2)
      precondition(numbers.all == [1, 2])
    }
    expectWarning(result)
  }

  @Test func deliveredOfAPostToTheClientItselfReturnsImmediatelyAndWarns() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let (center, numbers) = (MulticastCenter(), Numbers())
      let worker = Worker(onSlowWork: { number in
        if number == 1 {
          await center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(2) }).delivered()
        }
        numbers.add(number)
      })
      center.add(kept(worker), for: WorkerProtocol.self)
      await center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(1) }).delivered()
      await numbers.wait(for: 2)
      precondition(numbers.all == [1, 2])
    }
    expectWarning(result)
  }

  private func expectWarning(_ result: ExitTest.Result?) {
    #if DEBUG
      #expect(
        text(result).hasPrefix(
          "Multicast: delivered() returned immediately for the post at MulticastTests/DeliveredTests.swift:"
        ))
      #expect(text(result).split(separator: "\n").count == 1)
    #else
      #expect(text(result).isEmpty)
    #endif
  }

  @Test func aTaskThatAHandlerStartsWaitsForThatHandler() async {
    let done = Signal()
    center.observe(Topic<Int>(), owner: owner) { _, number in
      if number == 1 {
        Task {
          await center.post(Topic<Int>(), 2).delivered()
          journal.write("returned")
          done.send()
        }
        for _ in 0..<50 { await Task.yield() }
      }
      journal.write("\(number)")
    }
    center.post(Topic<Int>(), 1)
    await done.wait()
    #expect(journal.read() == "1 2 returned")
  }

  @Test func aTaskThatOutlivesItsHandlersCallWaitsForTheNextCall() async {
    let (returned, done) = (Signal(), Signal())
    center.observe(.login, owner: owner) { _, login in
      guard login.id == 1 else {
        for _ in 0..<20 { await Task.yield() }
        return journal.write("handled")
      }
      Task {
        await returned.wait()
        await center.post(.login, Login(id: 2)).delivered()
        journal.write("returned")
        done.send()
      }
    }
    await center.post(.login, Login(id: 1)).delivered()
    returned.send()
    await done.wait()
    #expect(journal.read() == "handled returned")
  }

  @Test func aHandlerWaitsForAnotherOneWhoseTaskStillWaitsForTheFirst() async {
    let (secondBegan, firstReturned) = (Signal(), Signal())
    let one = Topic<Int>("one")
    let two = Topic<Int>("two")
    center.observe(one, owner: owner) { _, number in
      switch number {
      case 1:
        // A task that still waits after this call has returned.
        Task { await center.post(two, 1).delivered() }
        await secondBegan.wait()
      case 2:
        // This call does not wait for another one.
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
      // The first handler no longer waits.
      await center.post(one, 3).delivered()
      journal.write("returned")
    }
    center.post(one, 1)
    center.post(one, 2)
    await firstReturned.wait()
    await center.post(two, 2).delivered()
    #expect(journal.read().hasPrefix("handled returned"))
  }

  @Test func deliveredReturnsInATaskThatACallStartsImmediately() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let done = Signal()
    center.observe(Topic<Int>(), owner: owner) { _, number in numbers.add(number) }
    center.observe(Topic<String>(), owner: owner) { _, _ in
      Task.immediate {
        await center.post(Topic<Int>(), 1).delivered()
        numbers.add(2)
        done.send()
      }
      numbers.add(0)
    }
    center.post(Topic<String>(), "go")
    await done.wait()
    #expect(numbers.all == [0, 1, 2])
  }
}
