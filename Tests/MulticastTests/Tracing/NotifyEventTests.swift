import TestSupport
import Testing

@testable import Multicast

/// Collects events. Pass `add` as `onDelivery`.
typealias Events = Collected<DeliveryEvent>

extension Events {
  /// Returns the events so far in short, and removes them.
  func read() -> [String] { take().map(\.brief) }

  /// Returns when `count` passes have ended.
  func wait(forEnds count: Int) async {
    await wait { events in events.count { $0.brief.contains(" ended ") } >= count }
  }
}

extension DeliveryEvent {
  /// The parts of an event that are the same in each run. The home follows `@`, and `late` marks a post that waited.
  var brief: String {
    let news =
      switch phase {
      case .began: "began"
      case .called(let type, _): "called \(type)"
      case .left(let home, let clients, _): "left \(clients) for \(home)"
      case .ended(let clients, _): "ended \(clients)"
      case .refused: "refused"
      }
    return "\(way) \(news)" + (home.map { " @\($0)" } ?? "") + (waited == nil ? "" : " late")
  }
}

/// The events of deliveries that call clients here and now.
struct NotifyEventTests {
  private struct Failure: Error {}

  private let events = Events()
  private let center: MulticastCenter
  private let client: Client
  private let counter: Counter

  init() {
    center = MulticastCenter(onRecursion: { _ in }, onDelivery: events.add)
    client = center.adding(Client("a", Journal()))
    counter = center.adding(Counter())
  }

  private func expectOneDelivery(
    _ way: DeliveryEvent.Way, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let all = events.all
    #expect(all.allSatisfy { $0.key == "PingProtocol" }, sourceLocation: sourceLocation)
    #expect(Set(all.map(\.delivery)).count == 1, sourceLocation: sourceLocation)
    #expect(Set(all.map(\.pass)).count == 1, sourceLocation: sourceLocation)
    #expect(
      events.read() == [
        "\(way) began", "\(way) called Client", "\(way) called Counter", "\(way) ended 2",
      ], sourceLocation: sourceLocation)
  }

  @Test func everyWayOfNotifyingReportsItsCallsInOrder() async {
    center.notify(PingProtocol.self) { $0.ping(0) }
    expectOneDelivery(.notify)
    center[PingProtocol.self].notify(forEach: [1, 2]) { $0.ping($1) }
    expectOneDelivery(.notify)
    #expect(center.map(PingProtocol.self) { _ in 1 } == [1, 1])
    expectOneDelivery(.map)
    await center.notify(PingProtocol.self, awaiting: { $0.ping(0) })
    expectOneDelivery(.awaiting)
  }

  @Test func eachDeliveryHasItsOwnNumberAndItsCallersCallSite() {
    let site = CallSite(fileID: "App/Screen.swift", line: 7, column: 5)
    for _ in 0..<3 {
      center.notify(PingProtocol.self, fileID: "App/Screen.swift", line: 7, column: 5) { _ in }
    }
    #expect(events.all.allSatisfy { $0.site == site })
    #expect(Set(events.all.map(\.delivery)).count == 3)
  }

  @Test func aDelegateWithoutACenterReportsItsDeliveries() {
    let delegate = MulticastDelegate<any PingProtocol>(onDelivery: events.add)
    delegate.adding(counter)
    delegate.notify { $0.ping(0) }
    #expect(events.read() == ["notify began", "notify called Counter", "notify ended 1"])
  }

  private func expectUnheard(
    _ way: DeliveryEvent.Way, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(events.all.map(\.isUnheard) == [false, true], sourceLocation: sourceLocation)
    #expect(events.read() == ["\(way) began", "\(way) ended 0"], sourceLocation: sourceLocation)
  }

  /// The first protocol has lost its clients, and none was ever added for the others.
  @Test func aDeliveryWithoutClientsIsReportedAsUnheard() async {
    center.removeAll()
    center.notify(PingProtocol.self) { $0.ping(0) }
    expectUnheard(.notify)
    center.notify(PongProtocol.self) { $0.pong(0) }
    expectUnheard(.notify)
    #expect(center.map(PongProtocol.self) { _ in 1 } == [])
    expectUnheard(.map)
    await center.notify(WorkerProtocol.self, awaiting: { await $0.workSlowly(0) })
    expectUnheard(.awaiting)
    for posted in [
      center.post(PingProtocol.self) { $0.ping(0) }.clients,
      center.postOnMain(PongProtocol.self) { $0.pong(0) }.clients,
      center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(0) }).clients,
      center.post(.login, Login(id: 1)).clients,
      center.post(Topic<Login>("other"), Login(id: 1)).clients,
      center.post(Topic<Int>("kept", keepsLatest: true), 1).clients,
    ] { #expect(posted == 0) }
    #expect(events.all.filter(\.isUnheard).count == 6)
    #expect(
      events.read() == Array(repeating: ["post began", "post ended 0"], count: 6).flatMap(\.self))
  }

  @Test func aDelegateWithoutClientsReportsItsDeliveryAsUnheard() {
    let delegate = MulticastDelegate<any PingProtocol>(onDelivery: events.add)
    delegate.notify { $0.ping(0) }
    expectUnheard(.notify)
  }

  /// The delivery calls no client, so that it cannot recur, although its call site is active.
  @Test func aNotifyOfTheLastClientAfterItsRemovalIsNotALoop() {
    let (recursions, events) = (Numbers(), events)
    let center = MulticastCenter(onRecursion: { _ in recursions.add(1) }, onDelivery: events.add)
    let client = center.adding(Client("a", Journal()))
    func notify() { center.notify(PingProtocol.self) { $0.ping(0) } }
    client.onPing = { _ in
      center.remove(client, for: PingProtocol.self)
      notify()
    }
    notify()
    client.onPing = nil
    #expect(recursions.all == [])
    #expect(
      events.read() == [
        "notify began", "notify began", "notify ended 0", "notify called Client", "notify ended 1",
      ])
  }

  /// The list is empty when the recursion begins, and has a client when it would walk over the list.
  @Test func aClientRegisteredWhileARecursionBeginsIsNotCalled() {
    let center = Locked<MulticastCenter?>(nil)
    let late = Counter()
    let observed = MulticastCenter(onDelivery: { _ in
      center.withLock { $0 }?.add(late, for: PingProtocol.self)
    })
    let client = observed.adding(Client("a", Journal()))
    func notify() { observed.notify(PingProtocol.self) { $0.ping(0) } }
    client.onPing = { _ in
      observed.remove(client, for: PingProtocol.self)
      center.withLock { $0 = observed }
      notify()
    }
    notify()
    client.onPing = nil
    center.withLock { $0 = nil }
    #expect(observed.contains(late, for: PingProtocol.self))
    #expect(late.calls == 0)
  }

  @Test func aClientThatThrowsIsReportedAsCalled() async {
    #expect(throws: Failure.self) {
      try center.notify(PingProtocol.self) { (_) throws(Failure) in throw Failure() }
    }
    #expect(events.read() == ["notify began", "notify called Client", "notify ended 1"])
    await #expect(throws: Failure.self) {
      try await center.notify(
        PingProtocol.self, awaiting: { (_) async throws(Failure) in throw Failure() })
    }
    #expect(events.read() == ["awaiting began", "awaiting called Client", "awaiting ended 1"])
  }

  @Test func aClientRemovedBeforeItsTurnIsNotReportedAsCalled() {
    client.onPing = { [center, client, counter] _ in
      center.remove(client, for: PingProtocol.self)
      center.remove(counter, for: PingProtocol.self)
    }
    center.notify(PingProtocol.self) { $0.ping(0) }
    client.onPing = nil
    #expect(events.read() == ["notify began", "notify called Client", "notify ended 1"])
  }

  @Test func aRefusedLoopIsReported() async {
    func notify() { center.notify(PingProtocol.self) { $0.ping(0) } }
    client.onPing = { _ in notify() }
    notify()
    client.onPing = nil
    #expect(
      events.read() == [
        "notify began", "notify refused", "notify called Client", "notify called Counter",
        "notify ended 2",
      ])
    @Sendable func notify(_ center: MulticastCenter, depth: Int) async {
      await center.notify(
        WorkerProtocol.self,
        awaiting: { _ in if depth > 0 { await notify(center, depth: depth - 1) } })
    }
    center.adding(Worker())
    await notify(center, depth: 1)
    #expect(
      events.read() == [
        "awaiting began", "awaiting refused", "awaiting called Worker", "awaiting ended 1",
      ])
  }

  @Test func eventsAreReportedOnTheDeliveringThread() {
    let isInHome = Collected<Bool>()
    let testHome = TestHome()
    let center = MulticastCenter(onDelivery: { _ in isInHome.add(testHome.isCurrent) })
    center.adding(counter)
    center.notify(PingProtocol.self) { $0.ping(0) }
    testHome.queue.sync { _ = center.notify(PingProtocol.self) { $0.ping(0) } }
    #expect(isInHome.all == [false, false, false, true, true, true])
  }

  /// The work in a call takes at most as long as the call, and the call at most as long as its pass.
  @Test func eventsReportTheDurationsOfTheCallsAndOfTheDelivery() throws {
    var inside: UInt64 = 0
    client.onPing = { _ in
      let start = Clock.now
      for _ in 0..<1000 { inside = Clock.now(notBefore: start) - start }
    }
    let start = Clock.now
    center.notify(PingProtocol.self) { $0.ping(0) }
    let outside = Clock.now(notBefore: start) - start
    client.onPing = nil
    guard case .called(_, let call) = events.all[1].phase,
      case .ended(_, let pass) = events.all[3].phase
    else { return #expect(Bool(false)) }
    #expect(inside > 0 && call >= inside && pass >= call && outside >= pass)
  }
}

struct EventTextTests {
  @Test func eachEventIsPrintedOnOneLine() {
    let lines = Collected<String>()
    let center = MulticastCenter(
      reentrancy: .refuseNesting, onRecursion: { _ in }, onDelivery: { lines.add("\($0)") })
    // This client notifies again, which is refused.
    center.adding(
      Listener { [weak center] _ in
        center?.notify(PingProtocol.self, fileID: "App/Inner.swift", line: 2, column: 3) {
          $0.ping(0)
        }
      })
    center.notify(PingProtocol.self, fileID: "App/Outer.swift", line: 1, column: 2) { $0.ping(0) }
    let duration = #/[0-9.]+ (ns|µs|ms|s)/#
    #expect(
      lines.all.map { $0.replacing(duration, with: "<time>") } == [
        "notify PingProtocol #1 began, at App/Outer.swift:1:2",
        "notify PingProtocol #2 refused, at App/Inner.swift:2:3",
        "notify PingProtocol #1 called Listener, <time>",
        "notify PingProtocol #1 ended, clients: 1, <time>",
      ])
  }

  @Test func aTopicNameWithLineBreaksIsPrintedOnOneLine() {
    let lines = Collected<String>()
    let center = MulticastCenter(onDelivery: { lines.add("\($0)") })
    let owner = kept(Owner())
    let topic = Topic<Login>("two\nlines\u{2028}three")
    center.observe(topic, owner: owner) { _, _ in }
    center.post(topic, Login(id: 1))
    #expect(lines.all.count == 3)
    #expect(!lines.all.contains { $0.contains { $0.isNewline } })
  }
}

struct CarriedValueTests {
  private enum Request {
    @TaskLocal static var id = 0
  }

  private let seen = Numbers()
  private let homes = Homes()
  private let owner = kept(Owner())

  private func observe(in center: MulticastCenter) {
    for home in [HomeKind.none, .queue, .task] {
      center.observe(.login, owner: owner, id: "\(home)", in: home, of: homes) { [seen] _ in
        seen.add(Request.id)
      }
    }
  }

  /// Without `carrying:`, only a handler that is called on the posting thread sees the value of the poster.
  @Test(arguments: [(true, [7, 7, 7]), (false, [0, 0, 7])])
  func handlersInEveryHomeSeeTheValueOfThePoster(isCarried: Bool, values: [Int]) async {
    let center = MulticastCenter(carrying: isCarried ? CarriedValue(Request.$id) : nil)
    observe(in: center)
    await Request.$id.withValue(7) { _ = await center.post(.login, Login(id: 1)).delivered() }
    #expect(seen.all.sorted() == values)
  }

  @Test func eventsInEveryHomeSeeTheValueOfThePoster() async {
    let told = Numbers()
    let center = MulticastCenter(
      onDelivery: { _ in told.add(Request.id) }, carrying: CarriedValue(Request.$id))
    observe(in: center)
    await Request.$id.withValue(7) { _ = await center.post(.login, Login(id: 1)).delivered() }
    #expect(told.all == Array(repeating: 7, count: told.all.count) && told.all.count == 11)
  }

  @Test func aPostThatFollowsCarriesItsOwnValue() {
    let center = MulticastCenter(carrying: CarriedValue(Request.$id))
    center.observe(.login, owner: owner) { [seen] _, login in
      seen.add(Request.id)
      guard login.id == 1 else { return }
      Request.$id.withValue(8) { _ = center.post(.login, Login(id: 2)) }
    }
    Request.$id.withValue(7) { _ = center.post(.login, Login(id: 1)) }
    #expect(seen.all == [7, 8])
  }

  @Test func aDelegateWithoutACenterCarriesItsValueToCallsAndEvents() async {
    let told = Numbers()
    let delegate = MulticastDelegate<any WorkerProtocol>(
      onDelivery: { _ in told.add(Request.id) }, carrying: CarriedValue(Request.$id))
    let worker = kept(Worker(onWork: { [seen] _ in seen.add(Request.id) }))
    delegate.add(worker, on: homes.one.queue)
    await Request.$id.withValue(7) { _ = await delegate.post { $0.work(0) }.delivered() }
    #expect(seen.all == [7])
    await told.wait(for: 6)
    #expect(told.all.allSatisfy { $0 == 7 })
  }
}
