import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// Rule 13 of the contract: a post calls each listener in its home.
@Suite struct HomeTests {
  let delegates = MulticastDelegate<any PingProtocol>()
  let center = MulticastCenter()
  let journal = Journal()
  let owner = kept(Owner())

  // MARK: - Actors

  @Test @MainActor func aClientAddedOnTheMainActorIsCalledThere() async {
    let client = kept(Client("a", journal))
    client.onPing = { _ in MainActor.assertIsolated() }
    center.add(client, for: PingProtocol.self)
    onNewThread { #expect(center.post(PingProtocol.self) { $0.ping(1) }.clients == 1) }
    #expect(journal.read() == "")
    await center.post(PingProtocol.self) { $0.ping(2) }.delivered()
    #expect(journal.read() == "a a")
  }

  /// A weak reference to an actor is nil from the beginning of its `deinit` on. A helper does not know the actor.
  @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
  @Test(arguments: [false, true])
  func postsInAnIsolatedDeinitOfAnActorCallTheClientsThere(byHelper: Bool) async {
    actor Home {
      let scene: LastPost
      let byHelper: Bool
      var client: Client?

      init(_ scene: LastPost, byHelper: Bool) { (self.scene, self.byHelper) = (scene, byHelper) }
      func begin() { client = scene.addClient(in: self) }

      isolated deinit {
        if byHelper {
          scene.post()
        } else {
          scene.center.post(PingProtocol.self) { $0.ping(1) }
        }
        scene.noteReturn()
      }
    }
    let scene = LastPost()
    await Home(scene, byHelper: byHelper).begin()
    #expect(await scene.calls == "called called returned")
  }

  /// The runtime does not say whether code runs in such an actor after its `deinit` has begun.
  @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
  @Test func whatFollowsInAnIsolatedDeinitWithACustomExecutorIsCalledThere() async {
    actor Guest {
      let scene: LastPost
      let host: QueueActor
      var client: Client?
      nonisolated var unownedExecutor: UnownedSerialExecutor { host.unownedExecutor }

      init(_ scene: LastPost, at host: QueueActor) { (self.scene, self.host) = (scene, host) }
      func begin() { client = scene.addClient(in: self) }

      isolated deinit {
        scene.center.post(PingProtocol.self) { $0.ping(1) }
        scene.noteReturn()
      }
    }
    let scene = LastPost()
    await Guest(scene, at: kept(QueueActor())).begin()
    #expect(await scene.calls == "called called returned")
  }

  @Test func aClientAddedInAnActorIsCalledThere() async {
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
    #expect(await center.post(PingProtocol.self) { $0.ping(1) }.delivered() == 1)
    #expect(journal.read() == "a")
  }

  @Test @MainActor func aClientWithoutAHomeIsCalledOnThePostingThread() {
    let write: @Sendable (Int) -> Void = { [journal] number in
      journal.write("\(number) on \(Process.currentThread)")
    }
    let worker = kept(Worker(onWork: write))
    center.adding(Listener(write))
    // A client of a Sendable protocol does not get the actor in which it is added as its home.
    center.add(worker, for: WorkerProtocol.self)
    center.observe(Topic<Int>(), owner: owner, in: .none, of: Homes(), write)
    let threads = Collected<UInt>()
    onNewThread {
      center.post(PingProtocol.self) { $0.ping(1) }
      center.post(WorkerProtocol.self) { $0.work(2) }
      center.post(Topic<Int>(), 3)
      threads.add(Process.currentThread)
    }
    let there = "on \(threads.take()[0])"
    #expect(journal.read() == "1 \(there) 2 \(there) 3 \(there)")
  }

  // MARK: - Queues

  /// Centers share a queue's mark, and none of them removes it.
  @Test func aMarkedQueueKnowsWhereItIs() {
    let queue = DispatchQueue(label: "home")
    let other = DispatchQueue(label: "targets the home", target: queue)
    let (home, targeting) = (MarkedQueue(queue), MarkedQueue(other))
    for _ in 0..<3 { _ = MarkedQueue(queue) }
    other.sync { #expect(home.presence == .here && targeting.presence == .here) }
    queue.sync { #expect(home.presence == .here && targeting.presence == .elsewhere) }
    #expect(home.presence == .elsewhere)
    #expect(MarkedQueue(.global()).presence == .unknown)
  }

  @Test(arguments: [false, true])
  func clientsAddedOnAQueueAreCalledThereOneAtATime(concurrent: Bool) async {
    let testHome = TestHome(concurrent: concurrent)
    let underWay = Atomic<Int>(0)
    let calls = Numbers()
    let clients = (0..<2).map { _ in
      Listener { number in
        #expect(testHome.isCurrent)
        #expect(underWay.wrappingAdd(1, ordering: .relaxed).newValue == 1)
        calls.add(number)
        Process.letOthersRun()
        underWay.wrappingAdd(-1, ordering: .relaxed)
      }
    }
    defer { extendLifetime(clients) }
    for client in clients { delegates.add(client, on: testHome.queue) }
    onThreads(4) { thread in
      for number in 0..<100 { delegates.post { $0.ping(1000 * thread + number) } }
    }
    #expect(await delegates.post { $0.ping(-1) }.delivered() == 2)
    let all = calls.all
    #expect(all.count == 802)
    for thread in 0..<4 {
      let own = all.filter { $0 >= 0 && $0 / 1000 == thread }
      let expected = (0..<200).map { 1000 * thread + $0 / 2 }
      #expect(own == expected)
    }
  }

  @Test func aClientOfASendableProtocolIsCalledOnItsQueue() async {
    let testHome = TestHome()
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let client = kept(
      Worker { _ in
        #expect(testHome.isCurrent)
        journal.write("a")
      })
    delegates.add(client, on: testHome.queue)
    await delegates.post { $0.work(1) }.delivered()
    #expect(journal.read() == "a")
  }

  @Test @MainActor func theMainQueueAndTheMainActorAreOneHome() async {
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

  @Test func handlersOnAGlobalQueueAreCalledOneAtATimeInOrder() async {
    let owners = kept((0..<3).map { _ in Owner() })
    for (index, owner) in owners.enumerated() {
      center.observe(.login, owner: owner, on: .global()) { _, login in
        journal.write("\(index)\(login.id)(")
        for _ in 0..<1000 { _ = Process.currentThread }
        journal.write(")")
      }
    }
    for id in 0..<50 { center.post(.login, Login(id: id)) }
    await center.post(.login, Login(id: 50)).delivered()
    let expected = (0...50).flatMap { id in (0..<3).map { "\($0)\(id)( )" } }
    #expect(journal.read() == expected.joined(separator: " "))
  }

  // MARK: - On the main actor

  @Test func postOnMainCallsAllClientsOnTheMainActor() async {
    for index in 0..<3 {
      delegates.adding(
        Listener { _ in
          MainActor.assertIsolated()
          journal.write("\(index)")
        })
    }
    #expect(delegates.postOnMain { $0.ping(1) }.clients == 3)
    await delegates.postOnMain { $0.ping(1) }.delivered()
    #expect(journal.read() == "0 1 2 0 1 2")
    await MainActor.run {
      delegates.postOnMain { $0.ping(1) }
      #expect(journal.read() == "0 1 2")
    }
  }

  // MARK: - Awaiting listeners

  @Test func awaitingClientsAreCalledConcurrently() async {
    let present = Numbers()
    for _ in 0..<4 {
      center.adding(
        Worker(onSlowWork: { number in
          present.add(number)
          await present.wait(for: 4)
        }))
    }
    // The post is delivered, because no client waits for the call of another one to return.
    let count = await center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(1) })
      .delivered()
    #expect(count == 4)
  }

  @Test(arguments: [false, true])
  func anAwaitingListenerReceivesOneCallAfterTheOther(isHandler: Bool) async {
    let work: @Sendable (Int) async -> Void = { [journal] number in
      journal.write("\(number)(")
      for _ in 0..<5 { await Task.yield() }
      journal.write(")")
    }
    if isHandler {
      center.observe(Topic<Int>(), owner: owner) { _, number in await work(number) }
    } else {
      center.adding(Worker(onSlowWork: work))
    }
    for number in 0..<20 {
      center.post(Topic<Int>(), number)
      center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(number) })
    }
    await center.post(Topic<Int>(), 20).delivered()
    await center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(20) }).delivered()
    #expect(journal.read() == (0...20).map { "\($0)( )" }.joined(separator: " "))
  }

  // MARK: - Posts that follow

  @Test func aPostThatFollowsDoesNotCallInAnActorThatItsThreadHasLeft() async {
    let store = kept(QueueActor())
    await store.observe(center, journal)
    center.observe(Topic<Int>("first"), owner: owner) { [unowned store] _, number in
      // Runs inside the actor for the duration of this call.
      store.testHome.queue.sync { store.assumeIsolated { $0.post(center, number) } }
    }
    center.post(Topic<Int>("first"), 1)
    await center.post(Topic<Int>("second"), 2).delivered()
    #expect(journal.read() == "inside1 inside2")
  }
}

extension QueueActor {
  fileprivate func observe(_ center: MulticastCenter, _ journal: Journal) {
    let testHome = testHome
    center.observe(Topic<Int>("second"), owner: self) { (_: isolated QueueActor, number) in
      journal.write((testHome.isCurrent ? "inside" : "outside") + "\(number)")
    }
  }

  fileprivate func post(_ center: MulticastCenter, _ number: Int) {
    center.post(Topic<Int>("second"), number)
  }
}

/// What an actor posts in its `deinit` to a client that posts in its first call.
private struct LastPost: Sendable {
  let center = MulticastCenter()
  private let journal = Journal()
  private let end = AsyncStream<Never>.makeStream()

  func addClient(in isolation: isolated any Actor) -> Client {
    let client = Client("called", journal)
    client.onPing = { [center] number in
      if number == 1 { center.post(PingProtocol.self) { $0.ping(2) } }
    }
    center.add(client, for: PingProtocol.self)
    return client
  }

  func post() { center.post(PingProtocol.self) { $0.ping(1) } }

  func noteReturn() {
    journal.write("returned")
    end.continuation.finish()
  }

  var calls: String {
    get async {
      for await _ in end.stream {}
      return journal.read()
    }
  }
}
