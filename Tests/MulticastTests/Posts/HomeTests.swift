import Dispatch
import Multicast
import Synchronization
import TestSupport
import Testing

/// Rule 13 of the contract: a post calls everybody at home.
@Suite struct HomeTests {
  let delegates = MulticastDelegate<any PingProtocol>()
  let center = MulticastCenter()
  let journal = Journal()

  // MARK: - Actors

  @Test @MainActor func aClientThatWasAddedOnTheMainActorIsCalledThere() async {
    let client = kept(Client("a", journal))
    client.onPing = { _ in MainActor.assertIsolated() }
    center.add(client, for: PingProtocol.self)
    onNewThread { #expect(center.post(PingProtocol.self) { $0.ping(1) } == 1) }
    #expect(journal.read() == "")
    await center.postAndWait(PingProtocol.self) { $0.ping(2) }
    #expect(journal.read() == "a a")
  }

  @Test func aClientThatWasAddedInAnActorIsCalledThere() async {
    actor Home {
      let client: Client
      init(_ journal: Journal) { client = Client("a", journal) }
      func add(to center: MulticastCenter) {
        client.onPing = { [unowned self] _ in assertIsolated() }
        center.add(client, for: PingProtocol.self)
      }
    }
    let home = kept(Home(journal))
    await home.add(to: center)
    #expect(await center.postAndWait(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(journal.read() == "a")
  }

  @Test @MainActor func aClientThatWasAddedWithoutIsolationIsCalledWhereThePostIsMade() {
    let client = Listener { number in
      dispatchPrecondition(condition: .notOnQueue(.main))
      journal.write("\(number) on \(Process.currentThread)")
    }
    defer { extendLifetime(client) }
    center.add(client, for: PingProtocol.self, isolation: nil)
    onNewThread {
      center.post(PingProtocol.self) { $0.ping(1) }
      #expect(journal.read() == "1 on \(Process.currentThread)")
    }
  }

  @Test @MainActor func aClientOfASendableProtocolHasNoHome() {
    let client = kept(Worker { number in journal.write("\(number) on \(Process.currentThread)") })
    center.add(client, for: WorkerProtocol.self)
    onNewThread {
      center.post(WorkerProtocol.self) { $0.work(1) }
      #expect(journal.read() == "1 on \(Process.currentThread)")
    }
  }

  // MARK: - Queues

  @Test(arguments: [false, true])
  func aClientThatWasAddedOnAQueueIsCalledThereAndOneCallAtATime(concurrent: Bool) async {
    let place = Place(concurrent: concurrent)
    let underWay = Atomic<Int>(0)
    let calls = Numbers()
    let clients = (0..<2).map { _ in
      Listener { number in
        #expect(place.isCurrent)
        #expect(underWay.add(1, ordering: .relaxed).newValue == 1)
        calls.add(number)
        underWay.subtract(1, ordering: .relaxed)
      }
    }
    defer { extendLifetime(clients) }
    for client in clients { delegates.add(client, on: place.queue) }
    onThreads(4) { thread in
      for number in 0..<100 { delegates.post { $0.ping(1000 * thread + number) } }
    }
    #expect(await delegates.postAndWait { $0.ping(-1) } == 2)
    let all = calls.all
    #expect(all.count == 802)
    for thread in 0..<4 {
      let own = all.filter { $0 >= 0 && $0 / 1000 == thread }
      let expected = (0..<200).map { 1000 * thread + $0 / 2 }
      #expect(own == expected)
    }
  }

  @Test func aClientOfASendableProtocolLivesOnTheQueueThatItWasGiven() async {
    let place = Place()
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let client = Worker { _ in
      #expect(place.isCurrent)
      journal.write("a")
    }
    defer { extendLifetime(client) }
    delegates.add(client, on: place.queue)
    await delegates.postAndWait { $0.work(1) }
    #expect(journal.read() == "a")
  }

  @Test @MainActor func theMainQueueIsTheMainActorsHome() async {
    let onQueue = kept(Listener { number in journal.write("queue\(number)") })
    let onActor = kept(Client("actor", journal))
    let handler = kept(Owner())
    center[PingProtocol.self].add(onQueue, on: .main)
    center.add(onActor, for: PingProtocol.self)
    center.observe(.login, owner: handler, on: .main) { _, login in
      journal.write("login\(login.id)")
    }
    onNewThread {
      center.post(PingProtocol.self) { $0.ping(1) }
      center.post(.login, Login(id: 1))
      center.post(PingProtocol.self) { $0.ping(2) }
    }
    #expect(journal.read() == "")
    center.post(.login, Login(id: 2))
    #expect(journal.read() == "queue1 actor login1 queue2 actor login2")
  }

  @Test func aGlobalQueueIsOneHome() async {
    let owners = kept((0..<3).map { _ in Owner() })
    for (index, owner) in owners.enumerated() {
      center.observe(.login, owner: owner, on: .global()) { _, login in
        journal.write("\(index)\(login.id)(")
        for _ in 0..<1000 { _ = Process.currentThread }
        journal.write(")")
      }
    }
    for id in 0..<50 { center.post(.login, Login(id: id)) }
    await center.postAndWait(.login, Login(id: 50))
    let expected = (0...50).flatMap { id in (0..<3).map { "\($0)\(id)( )" } }
    #expect(journal.read() == expected.joined(separator: " "))
  }

  // MARK: - Bodies that name an actor

  @Test func aBodyThatNamesAnActorRunsThereForAllClients() async {
    let clients = (0..<3).map { index in
      Listener { _ in
        MainActor.assertIsolated()
        journal.write("\(index)")
      }
    }
    defer { extendLifetime(clients) }
    for client in clients { delegates.add(client, isolation: nil) }
    #expect(delegates.post { @MainActor in $0.ping(1) } == 3)
    await delegates.postAndWait { @MainActor in $0.ping(1) }
    #expect(journal.read() == "0 1 2 0 1 2")
    await MainActor.run {
      delegates.post { @MainActor in $0.ping(1) }
      #expect(journal.read() == "0 1 2")
    }
  }

  // MARK: - Who awaits

  @Test func whoAwaitsRunsSideBySideWithOthers() async {
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let present = Atomic<Int>(0)
    let clients = (0..<4).map { _ in
      Worker(onSlowWork: { _ in
        present.add(1, ordering: .relaxed)
        while present.load(ordering: .relaxed) < 4 { await Task.yield() }
      })
    }
    defer { extendLifetime(clients) }
    for client in clients { delegates.add(client) }
    // It returns, because none of them waits for another one's call.
    #expect(await delegates.postAndWait { await $0.workSlowly(1) } == 4)
  }

  @Test func whoAwaitsGetsOneCallAfterTheOther() async {
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let client = Worker(onSlowWork: { number in
      journal.write("\(number)(")
      for _ in 0..<5 { await Task.yield() }
      journal.write(")")
    })
    defer { extendLifetime(client) }
    delegates.add(client)
    for number in 0..<20 { delegates.post { await $0.workSlowly(number) } }
    await delegates.postAndWait { await $0.workSlowly(20) }
    #expect(journal.read() == (0...20).map { "\($0)( )" }.joined(separator: " "))
  }

  // MARK: - Posts that follow

  @Test func whatFollowsDoesNotEnterAnActorThatThePostHasLeft() async {
    let owner = kept(Owner())
    let store = kept(QueueActor(journal))
    await store.observe(center)
    center.observe(Topic<Int>("first"), owner: owner) { [unowned store] _, number in
      // Inside of the actor, for the length of this call.
      store.queue.sync {
        store.assumeIsolated { _ = $0.post(center, number) }
      }
    }
    center.post(Topic<Int>("first"), 1)
    await center.postAndWait(Topic<Int>("second"), 2)
    #expect(journal.read() == "inside1 inside2")
  }
}

/// An actor that runs on a queue, and can so be entered from outside.
private actor QueueActor {
  private final class Executor: SerialExecutor {
    let place = Place()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      place.queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(place.queue)) }
  }

  private let executor = Executor()
  private let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var queue: DispatchQueue { executor.place.queue }

  func observe(_ center: MulticastCenter) {
    let (journal, place) = (journal, executor.place)
    center.observe(Topic<Int>("second"), owner: self) { (_: isolated QueueActor, number) in
      journal.write((place.isCurrent ? "inside" : "outside") + "\(number)")
    }
  }

  func post(_ center: MulticastCenter, _ number: Int) -> Int {
    center.post(Topic<Int>("second"), number)
  }
}
