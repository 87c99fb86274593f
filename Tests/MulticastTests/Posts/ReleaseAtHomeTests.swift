import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// Rule 3 of the contract: a client or an owner with a home is loaded and released only there, whatever other threads do with its list.
@Suite(.serialized) struct ReleaseAtHomeTests {
  /// What another thread does with the center while clients and owners are created and released in their home.
  enum Question: CaseIterable {
    case add, addAgain, remove, removeObject, removeAll, contains, isEmpty, count, description,
      wiring
    case observe, observeWithID, observeManyTopics, messages, removeHandlers,
      removeHandlersOfOwner
    case cancel, isActive, post, postOnMain, postAwaiting, postAwaitingAnywhere, postTopic,
      postLatest, latest
  }

  @Test(arguments: TrackedHome.Kind.allCases, Question.allCases)
  func clientsAndOwnersAreDeallocatedOnlyInTheirHome(kind: TrackedHome.Kind, question: Question)
    async
  {
    let home = TrackedHome(kind)
    let center = MulticastCenter()
    let asker = Asker(center, home)
    DispatchQueue(label: "asker").async { asker.ask(question) }
    let (groups, group) = (Process.rounds(200, quick: 16), 24)
    for number in 0..<groups {
      await home.run {
        var listeners = (0..<group).map { _ in home.makeListener(in: center) }
        if number % 2 == 1 { listeners.reverse() }
        // They are released while the other thread walks through the list, in the same direction or the opposite one.
        asker.begin()
        while !listeners.isEmpty { listeners.removeLast() }
        asker.pause()
      }
      await center.settled()
    }
    await asker.stop()
    #expect(home.ends.all == groups * group)
    #expect(home.ends.elsewhere == 0)
  }
}

// MARK: - Deallocated clients that their home has not noticed

extension ReleaseAtHomeTests {
  @Test(arguments: TrackedHome.Kind.allCases)
  func aDeallocatedClientCountsUntilItsHomeNotices(kind: TrackedHome.Kind) async {
    let home = TrackedHome(kind)
    let center = MulticastCenter()
    let delegate = center[PingProtocol.self]
    @Sendable func expectCounts(_ count: Int, _ line: Int = #line) {
      let text = "line \(line)"
      #expect(delegate.count == count, "\(text)")
      #expect(delegate.isEmpty == (count == 0), "\(text)")
      let token = home.observations.withLock { $0[0] }
      #expect(token.isActive == (count == 1), "\(text)")
      let listeners =
        center.wiring.topics.flatMap(\.listeners) + delegate.wiredListeners(in: center)
      #expect(
        listeners.map(\.type) == Array(repeating: "TrackedListener", count: 3 * count), "\(text)")
    }
    await home.run {
      let listener = home.makeListener(in: center)
      expectCounts(1)
      onNewThread { expectCounts(1) }
      extendLifetime(listener)
    }
    #expect(home.ends.all == 1)
    expectCounts(1)
    #expect(center.description.contains("1 client"))
    await home.run { expectCounts(0) }
    expectCounts(0)
  }

  @Test func aPostLetsAHomeNoticeADeallocatedClient() async {
    let home = TrackedHome(.queue)
    let center = MulticastCenter()
    await home.run { _ = home.makeListener(in: center) }
    #expect(await center.post(PingProtocol.self) { $0.ping(1) }.delivered() == 1)
    #expect(center[PingProtocol.self].isEmpty)
    #expect(center.removeHandlers(of: .login) == 1)
  }

  @Test func clientsOfADeallocatedActorAreRemovedOnAnyThread() {
    let delegate = MulticastDelegate<any PingProtocol>()
    var longest = 0
    for _ in 0..<1_000 {
      let actor = ShortLivedActor()
      delegate.add(Counter(), isolation: actor)
      longest = max(longest, delegate.clientList.boxes.count)
      extendLifetime(actor)
    }
    #expect(longest <= 17)
    #expect(delegate.isEmpty)
  }
}

private actor ShortLivedActor {}

extension MulticastDelegate {
  fileprivate func wiredListeners(in center: MulticastCenter) -> [Wiring.Group] {
    center.wiring.protocols.first { $0.name == "\(Listener.self)" }?.listeners ?? []
  }
}

// MARK: - Reclaiming

extension ReleaseAtHomeTests {
  /// The listeners that come and go while their home runs from time to time.
  enum Churn: CaseIterable { case clients, owners, ownersOfAwaited, topics }

  @Test(arguments: TrackedHome.Kind.allCases, Churn.allCases)
  func boxesOfShortLivedListenersAreFreedWhenTheirHomeRuns(kind: TrackedHome.Kind, churn: Churn)
    async
  {
    let home = TrackedHome(kind)
    let events = Collected<DeliveryEvent>()
    let center = MulticastCenter(onDelivery: { events.add($0) })
    let last = center.observe(.login, owner: kept(Owner()), on: home.testHome.queue) { _, _ in }
    let (rounds, round) = (Process.rounds(400, quick: 40), 250)
    var longest = 0
    // All visitors are alive at first, because a client at the address of a deallocated one would find its box.
    var visitors = (0..<rounds * round).map { _ in Visitor() }
    while let visitor = visitors.popLast() {
      let number = visitors.count
      switch churn {
      case .clients: center.addVisitor(visitor, in: home)
      case .owners: _ = center.observeVisitor(visitor, .login, in: home)
      case .ownersOfAwaited: await home.observeAwaiting(visitor, in: center)
      case .topics: _ = center.observeVisitor(visitor, Topic("\(number)"), in: home)
      }
      guard number % round == 0 else { continue }
      let lists = center.registries.all.flatMap(\.lists)
      // The home searches when it runs. A search is not a delivery, so it is not reported, and `settled()` does not wait for it.
      while lists.contains(where: \.hasWaitingSearch) { await Task.yield() }
      // A search that has begun is over when something else has run in its home.
      var visited: Set<UInt> = []
      for home in lists.flatMap({ $0.roster.groups.map(\.home) })
      where visited.insert(home.address).inserted {
        await home.run {}
      }
      longest = max(longest, lists.reduce(lists.count) { $0 + $1.boxes.count })
    }
    // A home that runs only in `settled()` leaves fewer than 2 rounds of visitors unnoticed when a list or the topics are searched,
    // and their number may double before the next search. A topic counts with its box.
    #expect(longest <= 2 * 2 * 2 * round)
    #expect(last.isActive)
    #expect(events.all.isEmpty)
  }

  /// A thread cannot ask whether it runs on a global queue. A search that was sent there does not need to.
  @Test func aGlobalQueueFindsDeallocatedClients() async {
    let list = MulticastCenter()[PingProtocol.self].clientList
    let home = Mailbox(.queue(MarkedQueue(.global())))
    var visitor: Visitor? = Visitor()
    visitor.map { visitor in _ = list.register(ClientBox<PingProtocol>(visitor, visitor, at: home))
    }
    visitor = nil
    #expect(list.removeDeallocated(in: list.boxes) == false)
    #expect(list.boxes.registered == 1)
    #expect(list.addWaitingSearch(of: Array(list.roster.groups), in: home))
    await home.run { Search(of: list).run(at: home) }
    #expect(list.boxes.registered == 0)
  }
}

private final class Visitor: PingProtocol, Sendable {
  func ping(_ number: Int) {}
}

// MARK: - Homes

/// A home, and the clients and owners that must be deallocated in it, the listeners.
final class TrackedHome: Sendable {
  enum Kind: CaseIterable { case mainActor, actor, queue }

  final class Ends: Sendable {
    private let counts = Locked((all: 0, elsewhere: 0))
    var all: Int { counts.withLock { $0.all } }
    var elsewhere: Int { counts.withLock { $0.elsewhere } }

    func count(isAtHome: Bool) {
      counts.withLock { counts in
        counts.all += 1
        if !isAtHome { counts.elsewhere += 1 }
      }
    }
  }

  let kind: Kind
  let ends = Ends()
  let testHome = TestHome("tracked home")
  let actor = QueueActor()
  fileprivate let observations = Locked<[TopicObservation]>([])
  private static let mainKey = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  init(_ kind: Kind) { self.kind = kind }

  /// Whether this thread runs in this home, according to the queues and not to the library.
  var isCurrent: Bool {
    switch kind {
    case .mainActor: DispatchQueue.getSpecific(key: Self.mainKey) == true
    case .actor: actor.testHome.isCurrent
    case .queue: testHome.isCurrent
    }
  }

  func run<Result: Sendable>(_ body: @Sendable () -> Result) async -> Result {
    switch kind {
    case .mainActor: await MainActor.run { body() }
    case .actor: await actor.run(body)
    case .queue: testHome.queue.sync(execute: body)
    }
  }

  /// Creates an object that is a client and an owner in this home. Call this in the home.
  func makeListener(in center: MulticastCenter) -> TrackedListener {
    let listener = TrackedListener(self)
    center.addVisitor(listener, in: self)
    // An awaiting client is called in an actor, and not on a queue.
    switch kind {
    case .mainActor: center.add(listener, for: TrackedProtocol.self, on: .main)
    case .actor: center.add(listener, for: TrackedProtocol.self, isolation: actor)
    case .queue: break
    }
    let tokens = [Topic<Login>.login, .lastLogin].map { topic in
      center.observeVisitor(listener, topic, in: self)
    }
    observations.withLock { $0 = $0.suffix(10) + tokens }
    return listener
  }
}

/// A client and owner that counts whether it is deallocated in its home.
final class TrackedListener: PingProtocol, TrackedProtocol {
  let home: TrackedHome
  init(_ home: TrackedHome) { self.home = home }
  func ping(_ number: Int) {}
  func track() {}
  deinit { home.ends.count(isAtHome: home.isCurrent) }
}

/// A Sendable protocol, for awaiting.
protocol TrackedProtocol: Sendable {
  func track()
}

extension Topic where Message == Login {
  fileprivate static var lastLogin: Self { Topic("last login", keepsLatest: true) }
}

extension QueueActor {
  fileprivate func run<Result: Sendable>(_ body: @Sendable () -> Result) -> Result { body() }

  private func touch() {}

  fileprivate func observeAwaiting(_ owner: some AnyObject & Sendable, in center: MulticastCenter) {
    center.observe(.login, owner: owner) { _, _ in
      await Task.yield()
      self.touch()
    }
  }
}

extension TrackedHome {
  /// Observes with an awaiting handler in this home, or in no actor if the home is a queue.
  fileprivate func observeAwaiting(
    _ owner: some AnyObject & Sendable, in center: MulticastCenter
  ) async {
    switch kind {
    case .mainActor:
      center.observe(.login, owner: owner) { @MainActor _, _ in await Task.yield() }
    case .actor: await actor.observeAwaiting(owner, in: center)
    case .queue: center.observe(.login, owner: owner) { _, _ in await Task.yield() }
    }
  }
}

extension MulticastCenter {
  fileprivate func addVisitor(_ client: some PingProtocol, in home: TrackedHome) {
    switch home.kind {
    case .mainActor: add(client, for: PingProtocol.self, on: .main)
    case .actor: add(client, for: PingProtocol.self, isolation: home.actor)
    case .queue: add(client, for: PingProtocol.self, on: home.testHome.queue)
    }
  }

  fileprivate func observeVisitor(
    _ owner: some AnyObject & Sendable, _ topic: Topic<Login>, in home: TrackedHome
  ) -> TopicObservation {
    switch home.kind {
    case .mainActor: return observe(topic, owner: owner, on: .main) { _, _ in }
    case .actor:
      let handler: Handler.Called = { _, _ in }
      return observe(
        topic, owner, nil, once: false, newestOnly: false, at: CallSite(), .called(handler),
        in: home.actor)
    case .queue: return observe(topic, owner: owner, on: home.testHome.queue) { _, _ in }
    }
  }
}

/// A thread that uses the center.
private final class Asker: Sendable {
  private let center: MulticastCenter
  private let home: TrackedHome
  private let owner = Owner()
  private let client = Counter()
  private let rounds = Atomic<Int>(0)

  /// Odd while the thread uses the center.
  private let turn = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)
  private let (go, began) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  private let done = Signal()

  init(_ center: MulticastCenter, _ home: TrackedHome) {
    (self.center, self.home) = (center, home)
  }

  func stop() async {
    isOver.store(true, ordering: .releasing)
    go.signal()
    await done.wait()
  }

  func ask(_ question: ReleaseAtHomeTests.Question) {
    while true {
      go.wait()
      if isOver.load(ordering: .acquiring) { return done.send() }
      let turn = turn.load(ordering: .acquiring)
      askOnce(question)
      began.signal()
      while self.turn.load(ordering: .acquiring) == turn { askOnce(question) }
    }
  }

  /// Returns when the thread has begun.
  func begin() {
    turn.wrappingAdd(1, ordering: .acquiringAndReleasing)
    go.signal()
    began.wait()
  }

  func pause() { turn.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  private func askOnce(_ question: ReleaseAtHomeTests.Question) {
    rounds.wrappingAdd(1, ordering: .relaxed)
    let delegate = center[PingProtocol.self]
    switch question {
    case .add: for _ in 0..<40 { delegate.add(Counter(), on: nil) }
    case .addAgain: delegate.add(client, on: nil)
    case .remove:
      delegate.add(client, on: nil)
      delegate.remove(client)
    case .removeObject:
      delegate.add(client, on: nil)
      center.remove(client as AnyObject)
    case .removeAll: delegate.removeAll()
    case .contains: _ = delegate.contains(client)
    case .isEmpty: _ = delegate.isEmpty
    case .count: _ = delegate.count
    case .description: _ = center.description
    case .wiring: _ = center.wiring
    case .observe: center.observe(.login, owner: Owner()) { _, _ in }
    case .observeWithID: center.observe(.login, owner: owner, id: 1) { _, _ in }
    case .observeManyTopics:
      for number in 0..<20 {
        let topic = Topic<Login>("\(rounds.load(ordering: .relaxed)) \(number)")
        center.observe(topic, owner: owner) { _, _ in }
      }
    case .messages: _ = center.messages(of: .login)
    case .removeHandlers: center.removeHandlers(of: .login)
    case .removeHandlersOfOwner: center.removeHandlers(of: .login, owner: owner)
    case .cancel: for token in home.observations.withLock({ $0 }) { token.cancel() }
    case .isActive: for token in home.observations.withLock({ $0 }) { _ = token.isActive }
    case .post: delegate.post { $0.ping(1) }
    case .postOnMain where home.kind == .mainActor: delegate.postOnMain { $0.ping(1) }
    case .postAwaiting: center.post(TrackedProtocol.self, awaiting: { @MainActor in $0.track() })
    case .postAwaitingAnywhere: center.post(TrackedProtocol.self, awaiting: { $0.track() })
    case .postTopic, .postOnMain: center.post(.login, Login(id: 1))
    case .postLatest: center.post(.lastLogin, Login(id: 1))
    case .latest: _ = center.latest(of: .lastLogin)
    }
  }
}
