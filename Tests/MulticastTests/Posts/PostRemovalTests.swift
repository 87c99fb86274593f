import Dispatch
import Multicast
import TestSupport
import Testing

/// Letters whose clients and handlers are removed or deallocated before their turn.
@Suite struct PostRemovalTests {
  let testHome = TestHome()
  let owner = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()

  // MARK: - Removed listeners

  enum Way: CaseIterable, Sendable { case remove, removeAll, removeFromAll }

  private func remove<Listener>(_ client: Listener, from listener: Listener.Type, _ way: Way) {
    switch way {
    case .remove: center.remove(client, for: listener)
    case .removeAll: center.removeAll()
    case .removeFromAll: center.remove(client as AnyObject)
    }
  }

  @Test(arguments: Way.allCases) func aLetterForARemovedClientCallsNothing(way: Way) {
    let client = kept(Listener { [journal] _ in journal.write("called") })
    center[PingProtocol.self].add(client, on: testHome.queue)
    testHome.queue.suspend()
    do {
      let sentinel = Sentinel(journal)
      center.post(PingProtocol.self) { $0.ping(sentinel.number) }
    }
    remove(client, from: PingProtocol.self, way)
    #expect(journal.read() == "")
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.read() == "end")
  }

  @MainActor @Test(arguments: Way.allCases)
  func aLetterOfPostOnMainForARemovedClientCallsNothing(way: Way) async {
    let client = kept(Listener { [journal] _ in journal.write("called") })
    center.add(client, for: PingProtocol.self)
    onNewThread { [center, journal] in
      let sentinel = Sentinel(journal)
      center.postOnMain(PingProtocol.self) { $0.ping(sentinel.number) }
    }
    remove(client, from: PingProtocol.self, way)
    await journal.wait(for: 1)
    #expect(journal.read() == "end")
  }

  @Test(arguments: End.allCases) func aLetterForARemovedHandlerCallsNothing(end: End) {
    let topic = Topic<Sentinel>()
    let observation = center.observe(topic, owner: owner, on: testHome.queue) { [journal] _, _ in
      journal.write("called")
    }
    testHome.queue.suspend()
    center.post(topic, Sentinel(journal))
    remove(observation, of: topic, end)
    #expect(journal.read() == "")
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.read() == "end")
  }

  @Test(arguments: End.allCases) func aRemovedHandlerDoesNotReceiveTheLatestMessage(end: End) {
    let topic = Topic<Sentinel>("latest", keepsLatest: true)
    testHome.queue.suspend()
    center.post(topic, Sentinel(journal))
    let observation = center.observe(topic, owner: owner, on: testHome.queue) { [journal] _, _ in
      journal.write("called")
    }
    center.removeLatest(of: topic)
    remove(observation, of: topic, end)
    #expect(journal.read() == "")
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.read() == "end")
  }

  @Test func aCancelledHandlerIsNotCalledAfterItsCenterIsDeallocated() {
    let other = MulticastCenter()
    testHome.queue.suspend()
    var observation: TopicObservation
    do {
      let center = MulticastCenter()
      observation = center.observe(.login, owner: owner, on: testHome.queue) { [journal] _, _ in
        journal.write("called")
      }
      center.post(.login, Login(id: 1))
    }
    #expect(observation.isActive)
    observation.cancel()
    #expect(!observation.isActive)
    observation = other.observe(.login, owner: owner) { _, _ in }
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.read() == "")
  }

  @Test(arguments: [1000, 4000]) func theTimeOfARemovalDoesNotDependOnWaitingLetters(count: Int) {
    let owners = (0..<count).map { _ in Owner() }
    testHome.queue.suspend()
    let observations = owners.map { owner in
      center.observe(.login, owner: owner, on: testHome.queue) { [journal] _, _ in
        journal.write("called")
      }
    }
    for id in 0..<count { center.post(.login, Login(id: id)) }
    // If each cancellation searched the letters, this would take minutes.
    for observation in observations { observation.cancel() }
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.read() == "")
  }

  enum End: CaseIterable, Sendable { case cancel, remove, removeHandlers, removeTopic, removeAll }

  private func remove(_ observation: TopicObservation, of topic: Topic<Sentinel>, _ end: End) {
    switch end {
    case .cancel: observation.cancel()
    case .remove: center.remove(owner)
    case .removeHandlers: center.removeHandlers(of: topic, owner: owner)
    case .removeTopic: center.removeHandlers(of: topic)
    case .removeAll: center.removeAll()
    }
  }

  @Test(arguments: Way.allCases) func aLetterForARemovedAwaitingClientCallsNothing(
    way: Way
  ) async {
    let (began, go) = (Signal(), Signal())
    let client = Worker(onSlowWork: { number in
      guard number == 1 else { return journal.write("called") }
      began.send()
      await go.wait()
    })
    center.add(client, for: WorkerProtocol.self)
    center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(1) })
    await began.wait()
    do {
      let sentinel = Sentinel(journal)
      center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(2 + sentinel.number) })
    }
    remove(client, from: WorkerProtocol.self, way)
    go.send()
    await journal.wait(for: 1)
    #expect(journal.read() == "end")
  }

  @Test func aLetterForACancelledAwaitingHandlerCallsNothing() async {
    let (began, go) = (Signal(), Signal())
    let calls = Atomic<Int>(0)
    let observation = center.observe(Topic<Sentinel>(), owner: owner) { _, _ in
      guard calls.wrappingAdd(1, ordering: .relaxed).newValue == 1 else {
        return journal.write("called")
      }
      began.send()
      await go.wait()
    }
    center.post(Topic<Sentinel>(), Sentinel {})
    await began.wait()
    center.post(Topic<Sentinel>(), Sentinel(journal))
    observation.cancel()
    go.send()
    await journal.wait(for: 1)
    #expect(journal.read() == "end")
  }

  /// In the actor, either the call or the removal comes first. No call begins there after the removal.
  @Test func anAwaitingHandlerIsNotCalledAfterItsActorHasRemovedIt() async {
    for _ in 0..<200 { await Remover().run(journal) }
    #expect(journal.read() == "")
  }

  private actor Remover {
    let center = MulticastCenter()
    private var isRemoved = false

    func run(_ journal: Journal) async {
      let observation = center.observe(.login, owner: self) { _, _ in
        if self.isRemoved { journal.write("called") }
        await Task.yield()
      }
      center.post(.login, Login(id: 1))
      await Task.yield()
      observation.cancel()
      isRemoved = true
      await center.post(.login, Login(id: 2)).delivered()
    }
  }

  /// Observes in an actor, and posts. Returns when the call is enqueued in the actor, which does not run.
  private func observeAndPost(_ topic: Topic<Sentinel>, in home: QueueActor) async
    -> TopicObservation
  {
    let observation = await home.observe(topic, owner, center, journal)
    // The job of `observe` may be counted after it has run.
    await home.jobs.wait(for: 1)
    let jobs = home.jobs.all.count
    home.testHome.queue.suspend()
    center.post(topic, Sentinel {})
    await home.jobs.wait(for: jobs + 1)
    return observation
  }

  @Test(arguments: End.allCases) func aCallEnqueuedInAnActorDoesNotBeginAfterTheRemoval(
    end: End
  ) async {
    let (topic, home) = (Topic<Sentinel>(), QueueActor())
    let observation = await observeAndPost(topic, in: home)
    remove(observation, of: topic, end)
    home.testHome.queue.resume()
    home.testHome.queue.sync {}
    #expect(journal.read() == "")
  }

  /// The new handler is called before `observe` returns, and cancels the old handler, which it has replaced.
  @Test func aCallEnqueuedInAnActorDoesNotBeginAfterItsReplacementHasCancelledIt() async {
    let (topic, home) = (Topic<Sentinel>("latest", keepsLatest: true), QueueActor())
    let observation = await observeAndPost(topic, in: home)
    center.observe(topic, owner: owner, id: 1) { _, _ in
      observation.cancel()
      home.testHome.queue.resume()
      home.testHome.queue.sync {}
      journal.write("new")
    }
    #expect(journal.read() == "new")
  }

  @Test func removingAClientKeepsTheLettersOfOtherClients() async {
    let clients = kept(["a", "b"].map { name in Listener { [journal] _ in journal.write(name) } })
    let delegates = center[PingProtocol.self]
    for client in clients { delegates.add(client, on: testHome.queue) }
    testHome.queue.suspend()
    delegates.post { $0.ping(1) }
    delegates.remove(clients[0])
    testHome.queue.resume()
    await delegates.post { $0.ping(1) }.delivered()
    #expect(journal.read() == "b b")
  }

  // MARK: - Deallocated clients and actors

  @Test(arguments: ["removed", "released", "added again"])
  func aRemovedOrDeallocatedClientIsNotCalled(way: String) {
    let delegates = center[PingProtocol.self]
    var client: Listener? = Listener { [journal] number in journal.write("\(number)") }
    defer { extendLifetime(client) }
    delegates.add(client!, on: testHome.queue)
    testHome.queue.suspend()
    delegates.post { $0.ping(1) }
    switch way {
    case "removed": delegates.remove(client!)
    case "released": client = nil
    default:
      delegates.remove(client!)
      delegates.add(client!, on: testHome.queue)
    }
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.read() == "")
    testHome.queue.sync { _ = delegates.post { $0.ping(2) } }
    #expect(journal.read() == (way == "added again" ? "2" : ""))
  }

  private actor Home {
    func add(_ client: Listener, to center: MulticastCenter) {
      center.add(client, for: PingProtocol.self)
    }
  }

  @Test func aClientWhoseActorHasBeenDeallocatedIsStillCalled() async {
    let client = kept(Listener { number in journal.write("\(number)") })
    var home: Home? = Home()
    await home!.add(client, to: center)
    home = nil
    for number in 1...3 { center.post(PingProtocol.self) { $0.ping(number) } }
    #expect(await center.post(PingProtocol.self) { $0.ping(4) }.delivered() == 1)
    #expect(journal.read() == "1 2 3 4")
  }

  @Test func deliveredReturnsWhenTheClientsActorIsDeallocated() async {
    for _ in 0..<200 {
      var home: Home? = Home()
      let client = Listener { _ in }
      await home!.add(client, to: center)
      async let called = center.post(PingProtocol.self) { $0.ping(1) }.delivered()
      home = nil
      _ = await called
      extendLifetime(client)
    }
    #expect(center[PingProtocol.self].clients.isEmpty)
  }

  // MARK: - Releases and deinits

  @Test func aDrainCanBeTheLastOwnerOfItsCenter() async {
    let done = Signal()
    testHome.queue.suspend()
    do {
      let center = MulticastCenter()
      let sentinel = Sentinel { done.send() }
      center.observe(.login, owner: owner, on: testHome.queue) { _, login in
        journal.write("\(login.id)")
        extendLifetime(sentinel)
      }
      for id in 1...3 { center.post(.login, Login(id: id)) }
    }
    testHome.queue.resume()
    await done.wait()
    #expect(["1 2 3", ""].contains(journal.read()))
  }

  @Test func aClientCanPostInItsDeinit() async {
    final class Parting: PingProtocol, Sendable {
      let center: MulticastCenter
      init(_ center: MulticastCenter) { self.center = center }
      func ping(_ number: Int) {}
      deinit { center.post(.login, Login(id: 1)) }
    }
    center.observe(.login, owner: owner, on: testHome.queue) { [journal] _, login in
      journal.write("\(login.id)")
    }
    center.observe(.login, owner: owner) { [journal] _, login in journal.write("\(login.id)") }
    do {
      let client = Parting(center)
      center.add(client, for: PingProtocol.self)
      center.post(PingProtocol.self) { $0.ping(1) }
    }
    await center.post(.login, Login(id: 2)).delivered()
    #expect(journal.read().split(separator: " ").filter { $0 == "1" }.count == 2)
  }

  @Test(arguments: [false, true]) func aMessageCanPostInItsDeinit(keepsLatest: Bool) async {
    let topic = Topic<Sentinel>("parting", keepsLatest: keepsLatest)
    let numbers = Numbers()
    center.observe(Topic<Int>(), owner: owner, on: testHome.queue) { _, number in
      numbers.add(number)
    }
    center.observe(topic, owner: owner, on: testHome.queue) { _, _ in }
    center.observe(topic, owner: owner) { _, _ in }
    for number in 0..<100 {
      center.post(topic, Sentinel { center.post(Topic<Int>(), number) })
    }
    center.removeLatest(of: topic)
    // Messages that are dropped post in their `deinit`, too.
    testHome.queue.sync {}
    testHome.queue.suspend()
    for number in 100..<110 {
      center.post(topic, Sentinel { center.post(Topic<Int>(), number) })
    }
    center.removeHandlers(of: topic)
    center.removeLatest(of: topic)
    testHome.queue.resume()
    await numbers.wait(for: 110)
    #expect(Set(numbers.all) == Set(0..<110))
  }

  // MARK: - A backlog

  /// In a process of its own, because other tests need memory, too.
  @Test(.enabled(if: !Process.isSanitized))
  func aHundredThousandMessagesForABlockedMainActorArriveAndFreeTheirMemory() async {
    await #expect(processExitsWith: .success) { try await Self.blockTheMainActor() }
  }

  @MainActor private static func blockTheMainActor() async throws {
    let (center, screen) = (MulticastCenter(), Screen())
    center.observe(.login, owner: screen) { screen, login in screen.shown.append(login.id) }
    // From 10,000 waiting letters on, a debug build prints a message.
    let count = Process.rounds(100_000, quick: 9_000)
    onNewThread { for id in 0..<count { center.post(.login, Login(id: id)) } }
    await center.post(.login, Login(id: -1)).delivered()
    precondition(screen.shown == Array(0..<count) + [-1])
    let round = min(count, 20_000)
    // Later messages fit into the memory of the first ones.
    var sizes: [Int] = []
    for _ in 0..<6 {
      screen.shown.removeAll(keepingCapacity: true)
      onNewThread { for id in 0..<round { center.post(.login, Login(id: id)) } }
      await center.post(.login, Login(id: -1)).delivered()
      if let size = Process.residentBytes { sizes.append(size) }
    }
    guard let first = sizes.first, let last = sizes.last else { return }
    // A leaked backlog would take a kilobyte for each message.
    precondition(last < first + 500 * 5 * round)
  }
}

extension Sentinel {
  /// A number, so that a body can use the sentinel.
  fileprivate var number: Int { 0 }
}

extension QueueActor {
  private func note(_ journal: Journal) { journal.write("called") }

  fileprivate func observe(
    _ topic: Topic<Sentinel>, _ owner: Owner, _ center: MulticastCenter, _ journal: Journal
  ) -> TopicObservation {
    center.observe(topic, owner: owner, id: 1) { _, _ in
      self.note(journal)
      await Task.yield()
    }
  }
}
