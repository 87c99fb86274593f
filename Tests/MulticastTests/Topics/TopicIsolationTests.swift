import TestSupport
import Dispatch
import Multicast
import Synchronization
import Testing

/// A handler runs in the isolation it was written in, and gets its messages in the order of the posts.
@Suite struct TopicIsolationTests {
  let owner = kept(Owner())
  let one = kept(Owner())
  let two = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()

  /// Knows nothing of any actor.
  func postFromAHelper(_ id: Int) -> Int { center.post(.login, Login(id: id)) }

  // MARK: - The main actor

  @Test @MainActor func aPostFromTheMainActorCallsItsHandlerWithinTheTurn() {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    #expect(center.post(.login, Login(id: 1)) == 1)
    #expect(screen.shown == [1])
    #expect(postFromAHelper(2) == 1)
    #expect(screen.shown == [1, 2])
  }

  @Test @MainActor func aPostFromElsewhereIsHandledOnTheMainActor() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    await Task.detached {
      #expect(center.post(.login, Login(id: 1)) == 1)
      #expect(await center.postAndWait(.login, Login(id: 2)) == 1)
    }.value
    #expect(screen.shown == [1, 2])
  }

  @Test @MainActor func aPostFromTheMainActorDoesNotOvertake() {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in screen.shown.append(login.id) }
    // Without leaving the main actor's turn, so that nothing of these can be handled meanwhile.
    onNewThread { for id in 0..<10 { center.post(.login, Login(id: id)) } }
    #expect(screen.shown == [])
    center.post(.login, Login(id: 10))
    #expect(screen.shown == Array(0...10))
  }

  @Test @MainActor func aHandlerThatPostsDoesNotOvertakeEither() {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      screen.shown.append(login.id)
      if login.id == 1 { center.post(.login, Login(id: 99)) }
    }
    onNewThread { for id in 0..<4 { center.post(.login, Login(id: id)) } }
    center.post(.login, Login(id: 4))
    #expect(screen.shown == [0, 1, 2, 3, 4, 99])
  }

  @Test func aHundredThousandMessagesFromFourThreads() async {
    let screen = await MainActor.run { Screen() }
    await MainActor.run {
      _ = center.observe(.login, owner: screen) { screen, login in screen.shown.append(login.id) }
    }
    let posters = 4
    let perPoster = Process.rounds(25_000, quick: 2500)
    await withTaskGroup(of: Void.self) { group in
      for poster in 0..<posters {
        group.addTask {
          for number in 0..<perPoster {
            center.post(.login, Login(id: poster * perPoster + number))
          }
        }
      }
    }
    await center.postAndWait(.login, Login(id: -1))
    let shown = await screen.shown
    // None lost, none twice.
    #expect(shown.count == posters * perPoster + 1)
    #expect(Set(shown).count == shown.count)
    for poster in 0..<posters {
      let own = shown.filter { $0 >= 0 && $0 / perPoster == poster }
      #expect(own == Array((poster * perPoster)..<((poster + 1) * perPoster)))
    }
  }

  @Test @MainActor func messagesOfADeadOwnerAreGivenUp() async {
    var screen = Optional(Screen())
    center.observe(.login, owner: screen!) { _, login in journal.write("\(login.id)") }
    onNewThread { center.post(.login, Login(id: 1)) }
    // Between the post and its delivery.
    screen = nil
    await center.postAndWait(.login, Login(id: 2))
    await Task.yield()
    #expect(journal.read() == "")
  }

  @Test @MainActor func messagesOfACancelledObservationAreGivenUp() async {
    let screen = Screen()
    let observation = center.observe(.login, owner: screen) { screen, login in
      screen.shown.append(login.id)
    }
    onNewThread { #expect(center.post(.login, Login(id: 1)) == 1) }
    observation.cancel()
    for _ in 0..<10 { await Task.yield() }
    #expect(screen.shown == [])
  }

  @Test @MainActor func messagesForAReplacedHandlerReachTheNewOne() async {
    let screen = Screen()
    center.observe(.login, owner: screen, id: 1) { screen, login in screen.shown.append(login.id) }
    onNewThread { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: screen, id: 1) { screen, login in screen.shown.append(-login.id) }
    center.post(.login, Login(id: 2))
    #expect(screen.shown == [-1, -2])
  }

  @Test @MainActor func onceIsOnceForAHandlerElsewhere() async {
    let screen = Screen()
    center.observe(.login, owner: screen, once: true) { screen, login in
      screen.shown.append(login.id)
    }
    let taken = Atomic<Int>(0)
    onNewThread {
      onThreads(4) { id in
        taken.add(center.post(.login, Login(id: id)), ordering: .relaxed)
      }
    }
    // Who gets which message is decided when the letters are handled.
    #expect(taken.load(ordering: .relaxed) == 4)
    while screen.shown.isEmpty { await Task.yield() }
    for _ in 0..<10 { await Task.yield() }
    #expect(screen.shown.count == 1)
    #expect(center.post(.login, Login(id: 5)) == 0)
  }

  // MARK: - Other actors

  @Test func aHandlerThatUsesItsActorRunsInIt() async {
    actor Store {
      var ids: [Int] = []
      let center: MulticastCenter
      init(_ center: MulticastCenter) { self.center = center }
      func observe() {
        center.observe(.login, owner: self) { _, login in self.ids.append(login.id) }
      }
      func postHere() -> [Int] {
        center.post(.login, Login(id: 1))
        return ids
      }
    }
    let store = Store(center)
    await store.observe()
    // In the actor itself, within the turn.
    #expect(await store.postHere() == [1])
    #expect(await center.postAndWait(.login, Login(id: 2)) == 1)
    #expect(await store.ids == [1, 2])
    // It captures its actor: an owner that it captures lives until it is cancelled.
    center.removeObservers(of: .login)
  }

  @Test func anAsynchronousHandlerGetsItsMessagesOneAfterTheOther() async {
    actor Store {
      private(set) var entries: [String] = []
      func add(_ id: Int) async {
        entries.append("\(id)(")
        for _ in 0..<3 { await Task.yield() }
        entries.append(")")
      }
    }
    let store = Store()
    center.observe(.login, owner: store) { store, login in await store.add(login.id) }
    for id in 0..<20 { center.post(.login, Login(id: id)) }
    await center.postAndWait(.login, Login(id: 20))
    #expect(await store.entries == (0...20).flatMap { ["\($0)(", ")"] })
  }

  @Test @MainActor func anAsynchronousHandlerRunsInTheActorItWasWrittenIn() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      await Task.yield()
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    await center.postAndWait(.login, Login(id: 1))
    #expect(screen.shown == [1])
  }

  // MARK: - Anywhere, and queues

  @Test func aNonisolatedHandlerIsCalledOnThePostingThread() {
    let thread = Locked<UInt>(0)
    center.observe(.login, owner: owner) { _, _ in
      let current = Process.currentThread
      thread.withLock { $0 = current }
    }
    onNewThread {
      center.post(.login, Login(id: 1))
      #expect(thread.withLock { $0 } == Process.currentThread)
    }
  }

  @Test(arguments: [false, true])
  func aQueueGetsMessagesInOrder(concurrent: Bool) async {
    let queue = DispatchQueue(label: "topic", attributes: concurrent ? .concurrent : [])
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let ids = Locked<[Int]>([])
    center.observe(.login, owner: owner, on: queue) { _, login in
      #expect(DispatchQueue.getSpecific(key: key) == true)
      ids.withLock { $0.append(login.id) }
    }
    for id in 0..<1000 { #expect(center.post(.login, Login(id: id)) == 1) }
    await center.postAndWait(.login, Login(id: 1000))
    #expect(ids.withLock { $0 } == Array(0...1000))
  }

  // MARK: - Waiting

  @Test func postAndWaitWaitsForEveryHandler() async {
    let queue = DispatchQueue(label: "topic")
    let owners = kept((0..<3).map { _ in Owner() })
    center.observe(.login, owner: owners[0]) { _, _ in journal.write("direct") }
    center.observe(.login, owner: owners[1], on: queue) { _, _ in journal.write("queue") }
    center.observe(.login, owner: owners[2]) { _, _ in
      for _ in 0..<20 { await Task.yield() }
      journal.write("task")
    }
    #expect(await center.postAndWait(.login, Login(id: 1)) == 3)
    #expect(Set(journal.read().split(separator: " ")) == ["direct", "queue", "task"])
    #expect(await MulticastCenter().postAndWait(.login, Login(id: 1)) == 0)
  }

  @Test func handlersThatWaitForEachOtherDoNotWaitForEver() async {
    center.observe(Topic<Int>("one"), owner: one) { _, number in
      journal.write("one\(number)")
      if number < 2 { await center.postAndWait(Topic<Int>("two"), number) }
    }
    center.observe(Topic<Int>("two"), owner: two) { _, number in
      journal.write("two\(number)")
      await center.postAndWait(Topic<Int>("one"), number + 1)
    }
    await center.postAndWait(Topic<Int>("one"), 1)
    #expect(journal.read().hasPrefix("one1 two1"))
    // The message that nobody could wait for is handled all the same.
    await center.postAndWait(Topic<Int>("one"), 3)
    #expect(journal.read() == "one2 one3" || journal.read() == "")
  }

  @Test func aHandlerMayWaitForItsOwnTopic() async {
    center.observe(.login, owner: owner) { _, login in
      journal.write("\(login.id)")
      if login.id < 3 { await center.postAndWait(.login, Login(id: login.id + 1)) }
    }
    await center.postAndWait(.login, Login(id: 1))
    await center.postAndWait(.login, Login(id: 10))
    await center.postAndWait(.login, Login(id: 11))
    #expect(journal.read() == "1 2 10 3 11" || journal.read() == "")
  }

  @Test func twoHandlersThatBeginToWaitForEachOtherAtOnceDoNotWaitForEver() async {
    let (bothRun, run) = AsyncStream.makeStream(of: Void.self)
    let running = Atomic<Int>(0)
    @Sendable func meet() async {
      if running.add(1, ordering: .acquiringAndReleasing).newValue == 2 { run.finish() }
      for await _ in bothRun {}
      while running.load(ordering: .acquiring) < 2 { await Task.yield() }
    }
    center.observe(Topic<Int>("one"), owner: one) { _, number in
      if number == 0 {
        await meet()
        await center.postAndWait(Topic<Int>("two"), 1)
      }
      journal.write("one\(number)")
    }
    center.observe(Topic<Int>("two"), owner: two) { _, number in
      if number == 0 {
        await meet()
        await center.postAndWait(Topic<Int>("one"), 1)
      }
      journal.write("two\(number)")
    }
    async let first = center.postAndWait(Topic<Int>("one"), 0)
    async let second = center.postAndWait(Topic<Int>("two"), 0)
    #expect(await first == 1)
    #expect(await second == 1)
    await center.postAndWait(Topic<Int>("one"), 2)
    await center.postAndWait(Topic<Int>("two"), 2)
    let entries = journal.read().split(separator: " ")
    #expect(Set(entries) == ["one0", "one1", "one2", "two0", "two1", "two2"])
  }

  // MARK: - Removal between post and delivery

  @Test(arguments: ["remove", "removeObservers", "removeAll", "removeTopic"]) @MainActor
  func aRemovalGivesUpWhatWaitsForAReplacedHandlerToo(way: String) async {
    let screen = Screen()
    func removeObserver() {
      switch way {
      case "remove": center.remove(screen)
      case "removeObservers": center.removeObservers(of: .login, owner: screen)
      case "removeAll": center.removeAll()
      default: center.removeObservers(of: .login)
      }
    }
    center.observe(.login, owner: screen) { screen, login in screen.shown.append(login.id) }
    onNewThread { center.post(.login, Login(id: 1)) }
    center.observe(.login, owner: screen) { screen, login in screen.shown.append(-login.id) }
    onNewThread { center.post(.login, Login(id: 2)) }
    removeObserver()
    center.observe(.login, owner: screen, once: true) { screen, login in
      screen.shown.append(login.id)
    }
    onNewThread { center.post(.login, Login(id: 3)) }
    removeObserver()
    for _ in 0..<20 { await Task.yield() }
    #expect(screen.shown == [])
  }

  @Test func aCancelledObservationIsNotWaitedFor() async {
    let queue = DispatchQueue(label: "suspended")
    let observation = center.observe(.login, owner: owner, on: queue) { _, _ in }
    queue.suspend()
    async let called = center.postAndWait(.login, Login(id: 1))
    while center.post(Topic<Int>(), 1) == 0, observation.isActive {
      await Task.yield()
      observation.cancel()
    }
    #expect(await called <= 1)
    queue.resume()
  }

  @Test @MainActor func aHandlerThatPostsWhileOthersWaitIsNoLoop() async {
    let reports = Reports()
    let center = reports.center
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      screen.shown.append(login.id)
      if login.id < 10 { center.post(.login, Login(id: login.id + 100)) }
    }
    onNewThread { for id in 1...3 { center.post(.login, Login(id: id)) } }
    while screen.shown.count < 6, reports.all.isEmpty { await Task.yield() }
    #expect(screen.shown.sorted() == [1, 2, 3, 101, 102, 103])
    #expect(reports.all.isEmpty)
  }

  @Test func aTaskThatOutlivesItsHandlerWaitsForTheHandlerAgain() async {
    let (done, finish) = AsyncStream.makeStream(of: Void.self)
    let (returned, hasReturned) = AsyncStream.makeStream(of: Void.self)
    center.observe(.login, owner: owner) { _, login in
      guard login.id == 1 else {
        for _ in 0..<20 { await Task.yield() }
        return journal.write("handled")
      }
      Task {
        for await _ in returned {}
        await center.postAndWait(.login, Login(id: 2))
        journal.write("returned")
        finish.finish()
      }
    }
    await center.postAndWait(.login, Login(id: 1))
    hasReturned.finish()
    for await _ in done {}
    #expect(journal.read() == "handled returned")
  }
}
