import Dispatch
import Multicast
import TestSupport
import Testing

/// Rule 14 of the contract: the order of the posts in every home, and causes before their effects.
@Suite struct CausalOrderTests {
  let owner = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()

  // MARK: - The order of one thread's posts

  @Test @MainActor func postsOfOneThreadToProtocolsAndTopicsArriveInOrder() async {
    let client = kept(Both(journal))
    let screen = kept(Screen())
    center.observe(.login, owner: screen) { _, login in journal.write("login\(login.id)") }
    center.add(client, for: PongProtocol.self)
    center.add(client, for: PingProtocol.self)
    onNewThread {
      for number in 0..<100 {
        center.post(PingProtocol.self) { $0.ping(number) }
        center.post(.login, Login(id: number))
        center.post(PongProtocol.self) { $0.pong(number) }
      }
    }
    await center.post(PingProtocol.self) { $0.ping(100) }.delivered()
    let expected = (0..<100).map { "ping\($0) login\($0) pong\($0)" } + ["ping100"]
    #expect(journal.read() == expected.joined(separator: " "))
  }

  @Test(arguments: [false, true])
  func aPostCallsTheHandlersOfOneHomeInTheOrderOfRegistration(amongOthers: Bool) async {
    let testHome = TestHome()
    let owners = kept((1...3).map { _ in Owner() })
    for (index, owner) in owners.enumerated() {
      // A list whose clients all have one home is not divided.
      if amongOthers { center.observe(Topic<String>(), owner: owner) { _, _ in } }
      center.observe(Topic<String>(), owner: owner, on: testHome.queue) { _, message in
        journal.write("\(index + 1)\(message)")
        if index == 2, message == "a" { center.post(Topic<String>(), "b") }
      }
    }
    center.post(Topic<String>(), "a")
    // `delivered()` of the first post could return before the letter of the post that follows has been left.
    await center.settled()
    await center.post(Topic<String>(), "c").delivered()
    #expect(journal.read() == "1a 2a 3a 1b 2b 3b 1c 2c 3c")
  }

  @Test func postsOfEightThreadsArriveInEveryHomeInTheOrderOfEachThread() async {
    actor Store {
      func observe(_ center: MulticastCenter, _ topic: Topic<Int>, _ arrived: Numbers) {
        center.observe(topic, owner: self) { (_: isolated Store, stamp) in arrived.add(stamp) }
      }
    }
    let topics = [Topic<Int>("one"), Topic<Int>("two"), Topic<Int>("three")]
    let store = kept(Store())
    let homes = Homes()
    let inStore = Numbers()
    let arrived = [HomeKind.none, .queue, .otherQueue, .mainActor].map { ($0, Numbers()) }
    for topic in topics {
      await store.observe(center, topic, inStore)
      for (home, numbers) in arrived {
        center.observe(topic, owner: owner, id: "\(home)", in: home, of: homes) { stamp in
          numbers.add(stamp)
        }
      }
    }
    // A stamp combines the time of a clock that all threads share with the number of the thread.
    let clock = Atomic<Int>(0)
    let posts = Process.rounds(500, quick: 100)
    onThreads(8) { thread in
      for number in 0..<posts {
        let time = clock.wrappingAdd(1, ordering: .relaxed).newValue
        center.post(topics[(thread + number) % 3], 8 * time + thread)
      }
    }
    for topic in topics { await center.post(topic, -1).delivered() }
    for numbers in arrived.map(\.1) + [inStore] {
      let stamps = numbers.all.filter { $0 >= 0 }
      for thread in 0..<8 {
        let own = stamps.filter { $0 % 8 == thread }
        #expect(own.count == posts)
        // All stamps are in order if each two neighbors are.
        #expect(zip(own, own.dropFirst()).allSatisfy { $0 < $1 })
      }
    }
  }

  // MARK: - Cause before effect

  @Test func everyHomeReceivesAQuestionBeforeItsAnswer() async {
    let homes = Homes()
    let question = Topic<Int>("question")
    let answer = Topic<Int>("answer")
    let heard = [HomeKind.mainActor, .queue, .none, .otherQueue].map { ($0, Numbers()) }
    for (home, numbers) in heard {
      // Answers are negative numbers. Their handlers observe first, so that the order of registration does not help.
      center.observe(answer, owner: owner, id: "\(home)", in: home, of: homes) { number in
        numbers.add(-number)
      }
      center.observe(question, owner: owner, id: "\(home)", in: home, of: homes) { number in
        numbers.add(number)
        if home == .otherQueue { center.post(answer, number) }
      }
    }
    let rounds = Process.rounds(1000, quick: 200)
    onThreads(3) { thread in
      for round in 1...rounds { center.post(question, thread * rounds + round) }
    }
    for numbers in heard.map(\.1) {
      await numbers.wait(for: 6 * rounds)
      expectQuestionsFirst(numbers, count: 3 * rounds)
    }
  }

  /// Checks that each negative number comes after the positive one.
  private func expectQuestionsFirst(_ numbers: Numbers, count: Int) {
    var asked: Set<Int> = []
    for number in numbers.all {
      if number > 0 { asked.insert(number) } else { #expect(asked.contains(-number)) }
    }
    #expect(asked.count == count)
  }

  @Test func allHandlersReceiveAValueBeforeItsCorrection() {
    let topic = Topic<Int>("value")
    center.observe(topic, owner: owner) { _, value in journal.write("label\(value)") }
    center.observe(topic, owner: owner) { _, value in
      journal.write("check\(value)")
      if value > 100 { center.post(topic, 100) }
      journal.write("checked")
    }
    center.observe(topic, owner: owner) { _, value in journal.write("store\(value)") }
    center.post(topic, 500)
    #expect(
      journal.read()
        == "label500 check500 checked store500 label100 check100 checked store100")
  }

  @Test @MainActor func aPostOfAHandlerDoesNotOvertakeWaitingPosts() {
    let reports = Reports()
    let screen = Screen()
    reports.center.observe(.login, owner: screen) { screen, login in
      screen.shown.append(login.id)
      if login.id < 4 { reports.center.post(.login, Login(id: login.id + 100)) }
    }
    onNewThread { for id in 1...3 { reports.center.post(.login, Login(id: id)) } }
    reports.center.post(.login, Login(id: 4))
    #expect(screen.shown == [1, 2, 3, 4, 101, 102, 103])
    #expect(reports.all.isEmpty)
  }

  @Test func postsMadeDuringCallsAreDeliveredInTheirOrder() {
    for name in ["first", "second"] {
      center.observe(.login, owner: owner, id: name) { _, login in
        journal.write("\(name)\(login.id)")
        guard login.id < 10 else { return }
        center.post(.login, Login(id: 10 * login.id + (name == "first" ? 1 : 2)))
      }
    }
    center.post(.login, Login(id: 1))
    #expect(journal.read() == "first1 second1 first11 second11 first12 second12")
  }

  @Test func anAwaitedCallIsTheCauseOfItsPosts() async {
    let slow = TestHome("slow")
    let heard = Numbers()
    center.observe(Topic<Int>("question"), owner: owner) { _, number in
      center.post(Topic<Int>("answer"), -number)
      await Task.yield()
    }
    center.observe(Topic<Int>("question"), owner: owner, on: slow.queue) { _, number in
      heard.add(number)
    }
    center.observe(Topic<Int>("answer"), owner: owner, on: slow.queue) { _, number in
      heard.add(number)
    }
    for number in 1...500 { center.post(Topic<Int>("question"), number) }
    await heard.wait(for: 1000)
    expectQuestionsFirst(heard, count: 500)
  }
}

/// Rule 15 of the contract: which calls have been made when `post` returns.
@Suite struct CallsBeforePostReturnsTests {
  let owner = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()

  @Test @MainActor func clientsAtHomeHereAndClientsWithoutAHomeAreCalledBeforePostReturns() {
    let client = kept(Client("home", journal))
    let other = kept(Listener { [journal] number in journal.write("anywhere\(number)") })
    center.add(client, for: PingProtocol.self)
    center.add(other, for: PingProtocol.self, on: nil)
    #expect(center.post(PingProtocol.self) { $0.ping(1) }.clients == 2)
    #expect(journal.read() == "anywhere1 home")
  }

  @Test @MainActor func lettersWaitingInTheMainActorAreHandledFirst() {
    let client = kept(Both(journal))
    let screen = kept(Screen())
    center.add(client, for: PingProtocol.self)
    center.add(client, for: PongProtocol.self)
    center.observe(.login, owner: screen) { _, login in journal.write("login\(login.id)") }
    onNewThread {
      center.post(PingProtocol.self) { $0.ping(1) }
      center.post(.login, Login(id: 1))
    }
    center.post(PongProtocol.self) { $0.pong(2) }
    #expect(journal.read() == "ping1 login1 pong2")
  }

  @Test(arguments: [false, true]) func lettersWaitingOnAQueueAreHandledFirst(concurrent: Bool) {
    let testHome = TestHome(concurrent: concurrent)
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in
      #expect(testHome.isCurrent)
      journal.write("\(login.id)")
    }
    // A barrier, because a concurrent queue could otherwise handle the letters concurrently with this block.
    testHome.queue.sync(flags: .barrier) {
      onNewThread { for id in 1...3 { center.post(.login, Login(id: id)) } }
      #expect(journal.read() == "")
      center.post(.login, Login(id: 4))
      #expect(journal.read() == "1 2 3 4")
    }
  }

  @Test @MainActor func postsThatFollowAreDeliveredBeforePostReturns() {
    let screen = kept(Screen())
    center.observe(Topic<Int>("question"), owner: screen) { _, number in
      center.post(Topic<Int>("answer"), number)
      journal.write("asked\(number)")
    }
    center.observe(Topic<Int>("answer"), owner: screen) { _, number in
      journal.write("answered\(number)")
    }
    center.post(Topic<Int>("question"), 1)
    #expect(journal.read() == "asked1 answered1")
  }

  /// When the answer was posted, its topic had no handler in the main actor.
  @Test @MainActor func aHandlerThatObservesBeforeAPostFollowsIsCalledLater() async {
    let screen = kept(Screen())
    let answer = Topic<Int>("answer", keepsLatest: true)
    center.observe(answer, owner: screen, on: DispatchQueue(label: "other")) { _, _ in }
    center.observe(Topic<Int>("question"), owner: screen) { _, number in
      center.post(answer, number)
      center.observe(answer, owner: screen) { @MainActor _, number in
        journal.write("answered\(number)")
      }
    }
    center.post(Topic<Int>("question"), 1)
    #expect(journal.read() == "")
    await center.settled()
    #expect(journal.read() == "answered1")
  }

  @Test @MainActor func aPostOfAnAwaitingHandlerIsDeliveredAfterLettersThatWaitInItsActor() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in screen.shown.append(login.id) }
    let seen = Numbers()
    // An awaiting handler has a mailbox of its own. It posts inside the main actor, where other letters wait at that moment.
    center.observe(Topic<Int>(), owner: owner) { @MainActor _, number in
      onNewThread { for id in 1...3 { center.post(.login, Login(id: id)) } }
      center.post(.login, Login(id: number))
      for id in screen.shown { seen.add(id) }
      await Task.yield()
    }
    await center.post(Topic<Int>(), 4).delivered()
    #expect(seen.all == [1, 2, 3, 4])
  }

  // MARK: - In several homes

  @Test func everyHomeThatIsHereIsCalledBeforePostReturns() {
    let outer = DispatchQueue(label: "outer")
    let inner = DispatchQueue(label: "inner", target: outer)
    center.observe(.login, owner: owner, on: outer) { [journal] _, _ in journal.write("outer") }
    center.observe(.login, owner: owner) { [journal] _, _ in journal.write("nowhere") }
    center.observe(.login, owner: owner, on: inner) { [journal] _, _ in journal.write("inner") }
    inner.sync {
      #expect(center.post(.login, Login(id: 1)).clients == 3)
      #expect(journal.read() == "nowhere outer inner")
    }
  }

  @Test @MainActor func theMainActorAndAQueueThatItEntersAreCalledBeforePostReturns() {
    let testHome = TestHome()
    let screen = kept(Screen())
    center.observe(.login, owner: screen) { [journal] _, _ in journal.write("main") }
    center.observe(.login, owner: owner, on: testHome.queue) { [journal] _, _ in
      journal.write("queue")
    }
    testHome.queue.sync { _ = center.post(.login, Login(id: 1)) }
    #expect(journal.read() == "main queue")
  }

  @Test(.enabled(if: Process.knowsCurrentActor))
  func twoActorsOfOneExecutorAreCalledBeforePostReturns() async {
    let executor = SharedExecutor()
    let (one, two) = (Sharing(executor, center, journal), Sharing(executor, center, journal))
    await one.observe("one")
    await two.observe("two")
    await one.post()
    #expect(journal.read() == "one two returned")
    extendLifetime((one, two))
  }

  /// A letter in another home that is here needs no drain, because the posting thread handles it.
  @Test(.enabled(if: Process.knowsCurrentActor))
  func homesThatAreHereStartNoDrains() async {
    let drains = Drains()
    let center = MulticastCenter(onRecursion: nil, onDelivery: { _ in }, scheduler: drains)
    let executor = SharedExecutor()
    let actors = (1...3).map { _ in Sharing(executor, center, journal) }
    for (index, actor) in actors.enumerated() { await actor.observe("\(index)") }
    await actors[0].post()
    #expect(journal.read() == "0 1 2 returned")
    #expect(drains.count.load(ordering: .relaxed) == 0)
    // They are no longer here.
    await center.post(.login, Login(id: 2)).delivered()
    #expect(drains.count.load(ordering: .relaxed) >= 3)
    extendLifetime(actors)
  }

  /// Counts the drains that a center asks for, and holds none.
  private final class Drains: LetterScheduler {
    let count = Atomic<Int>(0)

    func hold(_ home: HeldHome) -> Bool {
      count.wrappingAdd(1, ordering: .relaxed)
      return false
    }
    func beginWait(inCall isInCall: Bool) {}
    func endWait(
      inCall isInCall: Bool, early isEarly: Bool, _ resume: @escaping @Sendable () -> Void
    ) { resume() }
  }

  private final class SharedExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "shared")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  private actor Sharing {
    private let executor: SharedExecutor
    private let center: MulticastCenter
    private let journal: Journal
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: SharedExecutor, _ center: MulticastCenter, _ journal: Journal) {
      (self.executor, self.center, self.journal) = (executor, center, journal)
    }

    func observe(_ name: String) {
      center.observe(.login, owner: self) { (me: isolated Sharing, _) in me.journal.write(name) }
    }

    func post() {
      center.post(.login, Login(id: 1))
      journal.write("returned")
    }
  }

  /// In the process of the tests, a thread other than the main one may serve the main queue.
  @Test func aPostInABlockOnTheMainQueueCallsTheMainActorBeforeItReturns() async {
    await MainActor.run {
      let screen = kept(Screen())
      _ = center.observe(.login, owner: screen) { [journal] _, _ in journal.write("main") }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { [center, journal] in
        center.post(.login, Login(id: 1))
        journal.write("returned")
        continuation.resume()
      }
    }
    #expect(journal.read() == "main returned")
  }
}
