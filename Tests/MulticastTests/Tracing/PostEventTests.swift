import Multicast
import Dispatch
import TestSupport
import Testing

/// The events of posts, on the posting thread and in the homes that handle them.
struct PostEventTests {
  let owner = kept(Owner())
  private let events = Events()
  private let center: MulticastCenter
  private let testHome = TestHome("home")
  private let listener = kept(Listener { _ in })

  init() {
    center = MulticastCenter(onRecursion: { _ in }, onDelivery: events.add)
  }

  @Test func aPostReportsItsCallsHereAndTheLettersThatItLeaves() async {
    center.add(listener, for: PingProtocol.self, on: testHome.queue)
    center.adding(Listener { _ in })
    await center.post(PingProtocol.self) { $0.ping(0) }.delivered()
    await events.wait(forEnds: 2)
    let all = events.all
    #expect(all.allSatisfy { $0.key == "PingProtocol" })
    #expect(Set(all.map(\.delivery)).count == 1)
    let here = all.filter { $0.home == nil }
    let there = all.filter { $0.home != nil }
    #expect(
      here.map(\.brief) == [
        "post began", "post called Listener", "post left 1 for queue home", "post ended 1",
      ])
    #expect(
      there.map(\.brief) == [
        "post began @queue home late", "post called Listener @queue home late",
        "post ended 1 @queue home late",
      ])
    #expect(Set(here.map(\.pass)).count == 1)
    #expect(Set(there.map(\.pass)).count == 1)
    #expect(there[0].pass != here[0].pass)
    #expect(all.filter(\.isUnheard).isEmpty)
  }

  @Test func eventsAndTheWiringCountWaitingLetters() {
    let testHome = TestHome("home")
    center.observe(.login, owner: kept(Owner()), on: testHome.queue) { _, _ in }
    #expect(center.wiring.waiting.isEmpty)
    testHome.queue.suspend()
    for id in 1...3 { center.post(.login, Login(id: id)) }
    let counts = events.all.compactMap { event in
      if case .left(_, _, let waiting) = event.phase { waiting } else { nil }
    }
    #expect(counts == [1, 2, 3])
    let waiting = center.wiring.waiting
    #expect(waiting.map(\.letters) == [3] && waiting.first?.home == "queue home")
    #expect(waiting.first?.nanoseconds != nil)
    #expect("\(center.wiring)".contains("waiting in queue home: 3 letters, for "))
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(center.wiring.waiting.isEmpty)
  }

  /// A home that is blocked in its first call has taken all letters that waited.
  @Test func lettersThatAHomeHasTakenCountUntilTheyAreHandled() {
    let testHome = TestHome("home")
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    center.observe(.login, owner: kept(Owner()), on: testHome.queue) { _, login in
      if login.id > 1 { return }
      began.signal()
      goOn.wait()
    }
    testHome.queue.suspend()
    for id in 1...3 { center.post(.login, Login(id: id)) }
    testHome.queue.resume()
    began.wait()
    #expect(center.wiring.waiting.map(\.letters) == [3])
    goOn.signal()
    testHome.queue.sync {}
    #expect(center.wiring.waiting.isEmpty)
  }

  #if DEBUG
    @Test func aHomeThatDoesNotHandleItsLettersIsReportedOnce() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner, testHome) = (MulticastCenter(), Owner(), TestHome("stuck"))
        center.observe(.login, owner: owner, on: testHome.queue) { _, _ in }
        testHome.queue.suspend()
        for id in 0..<10_000 { center.post(.login, Login(id: id)) }
        precondition(center.wiring.waiting.first?.letters == 10_000)
        for id in 0..<20_000 { center.post(.login, Login(id: id)) }
        testHome.queue.resume()
        extendLifetime(owner)
      }
      #expect(text(result).split(separator: "\n").count == 1)
      #expect(text(result).contains("10000 posts wait"))
      #expect(text(result).contains("queue stuck"))
    }

    /// The letters of one post may be the 10,000th in two homes, and each home may reach that number again.
    @Test func eachHomeThatDoesNotHandleItsLettersIsReportedOnce() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner, homes) = (
          MulticastCenter(), Owner(), [TestHome("one"), TestHome("two")]
        )
        for home in homes {
          center.observe(.login, owner: owner, on: home.queue) { _, _ in }
        }
        for _ in 0..<2 {
          for home in homes { home.queue.suspend() }
          for id in 0..<10_000 { center.post(.login, Login(id: id)) }
          for home in homes { home.queue.resume() }
          await center.settled()
        }
        extendLifetime(owner)
      }
      let messages = text(result).split(separator: "\n")
      #expect(messages.count == 2)
      for home in ["queue one", "queue two"] {
        #expect(messages.count { $0.contains("10000 posts wait") && $0.contains(home) } == 1)
      }
    }
  #endif

  @Test(arguments: ["task", "MainActor"])
  func awaitingPostsAndPostsOnMainReportTheirHome(home: String) async {
    center.adding(Worker())
    if home == "task" {
      await center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(0) }).delivered()
    } else {
      await center.postOnMain(WorkerProtocol.self) { $0.work(0) }.delivered()
    }
    await events.wait(forEnds: 2)
    #expect(events.all.compactMap(\.home).first == home)
    #expect(
      Set(events.read()) == [
        "post began", "post left 1 for \(home)", "post ended 0", "post began @\(home) late",
        "post called Worker @\(home) late", "post ended 1 @\(home) late",
      ])
  }

  @Test func aPostThatFollowsIsReported() {
    center.adding(
      Listener { [center] number in
        if number > 0 { center.post(PingProtocol.self) { $0.ping(number - 1) } }
      })
    center.post(PingProtocol.self) { $0.ping(1) }
    #expect(Set(events.all.map(\.delivery)).count == 2)
    #expect(
      events.read() == [
        "post began", "post called Listener", "post ended 1",
        "post began late", "post called Listener late", "post ended 1 late",
      ])
  }

  @Test func aPostThatRecursTooOftenIsReportedAsRefused() {
    center.adding(
      Listener { [center] number in
        center.post(PingProtocol.self) { $0.ping(0) }
      })
    center.post(PingProtocol.self) { $0.ping(1) }
    let briefs = events.read()
    #expect(briefs.count { $0 == "post refused" } == 1)
    #expect(briefs.count { $0.contains("ended 1") } == 1002)
  }

  @Test func aPostToATopicReportsTheOwnersOfItsHandlers() async {
    center.observe(.login, owner: owner) { _, _ in }
    center.observe(.login, owner: owner, on: testHome.queue) { _, _ in }
    center.observe(.login, owner: owner) { _, _ in await Task.yield() }
    _ = kept(center.messages(of: .login))
    await center.post(.login, Login(id: 1)).delivered()
    await events.wait(forEnds: 3)
    #expect(events.all.allSatisfy { $0.key == "Topic<Login>(\"login\")" })
    let briefs = events.read()
    #expect(
      briefs.filter { !$0.contains("@") } == [
        "post began", "post called Owner", "post called AsyncStream<Login>",
        "post left 1 for queue home", "post left 1 for task", "post ended 2",
      ])
    #expect(briefs.contains("post called Owner @queue home late"))
    #expect(briefs.contains("post called Owner @task late"))
  }

  @Test func theLatestMessageIsReportedWhenANewHandlerReceivesIt() async {
    let topic = Topic<Login>("kept", keepsLatest: true)
    center.post(topic, Login(id: 1))
    #expect(events.read() == ["post began", "post ended 0"])
    center.observe(topic, owner: owner) { _, _ in }
    #expect(events.read() == ["post began late", "post called Owner late", "post ended 1 late"])
  }

  /// The pass of the posting thread calls no client, because it leaves letters for all.
  @Test(arguments: [HomeKind.queue, .task]) func aPostThatOnlyLeavesLettersIsHeard(
    home: HomeKind
  ) async {
    center.observe(.login, owner: owner, in: home, of: Homes()) { _ in }
    await center.post(.login, Login(id: 1)).delivered()
    await events.wait(forEnds: 2)
    #expect(events.all.filter(\.isUnheard).isEmpty)
  }

  @Test func aHandlerWhoseOwnerIsDeallocatedIsNotReportedAsCalled() async {
    let held = Signal()
    testHome.queue.async { held.wait() }
    var owner: Owner? = Owner()
    center.observe(.login, owner: owner!, on: testHome.queue) { _, _ in }
    center.post(.login, Login(id: 1))
    owner = nil
    held.send()
    await events.wait(forEnds: 2)
    #expect(
      events.read().filter { $0.contains("@") } == [
        "post began @queue home late", "post ended 0 @queue home late",
      ])
  }
}

/// The deliveries that an `onDelivery` callback makes itself.
struct CallbackDeliveryTests {
  let told = Numbers()

  /// A callback that makes a delivery for each event, and collects the events.
  private final class Teller: Sendable {
    private let center = Locked<MulticastCenter?>(nil)
    private let tell: @Sendable (MulticastCenter, DeliveryEvent) -> Void
    let events = Events()

    init(_ tell: @escaping @Sendable (MulticastCenter, DeliveryEvent) -> Void) {
      self.tell = tell
    }

    func makeCenter() -> MulticastCenter {
      let made = MulticastCenter(onDelivery: { event in
        self.events.add(event)
        if let center = self.center.withLock({ $0 }) { self.tell(center, event) }
      })
      center.withLock { $0 = made }
      return made
    }

    /// Ends the retain cycle of the center and its callback.
    func end() { center.withLock { $0 = nil } }
  }

  @Test func aNotifyOfACallbackIsDeliveredAndNotReported() {
    let teller = Teller { center, _ in center.notify(PingProtocol.self) { $0.ping(0) } }
    let center = teller.makeCenter()
    center.adding(Worker())
    let told = center.adding(Counter())
    center.notify(WorkerProtocol.self) { $0.work(0) }
    #expect(
      teller.events.read() == ["notify began", "notify called Worker", "notify ended 1"])
    #expect(told.calls == 3)
    teller.end()
  }

  /// On the posting thread, on a queue and in a task, including the deliveries that handlers make there.
  @Test(arguments: [HomeKind.none, .queue, .task])
  func aPostOfACallbackIsDeliveredAndNotReportedInAnyHome(home: HomeKind) async {
    let teller = Teller { center, _ in center.post(.login, Login(id: 1)) }
    let center = teller.makeCenter()
    let owner = kept(Owner())
    center.adding(Listener { number in told.add(number) })
    center.observe(.login, owner: owner, in: home, of: Homes()) { [weak center] _ in
      center?.notify(PingProtocol.self) { $0.ping(1) }
      center?.post(PingProtocol.self) { $0.ping(2) }
    }
    center.adding(Worker())
    center.post(WorkerProtocol.self) { $0.work(0) }
    await told.wait(for: 6)
    // An event would have been reported before the client is called.
    teller.end()
    #expect(teller.events.read() == ["post began", "post called Worker", "post ended 1"])
    #expect(told.all.sorted() == [1, 1, 1, 2, 2, 2])
  }

  /// A callback that posts in a home handles foreign letters there. They are not caused by the callback.
  @Test func foreignLettersThatACallbackHandlesAreReported() {
    let testHome = TestHome("home")
    let isFirst = Atomic<Bool>(true)
    let teller = Teller { center, event in
      guard case .called = event.phase, isFirst.load(ordering: .relaxed) else { return }
      isFirst.store(false, ordering: .relaxed)
      onNewThread { center.post(.login, Login(id: 1)) }
      // This post handles the letter of the other thread first.
      center.post(Topic<Int>(), 1)
    }
    let center = teller.makeCenter()
    let owner = kept(Owner())
    center.observe(.login, owner: owner, on: testHome.queue) { _, login in told.add(login.id) }
    center.observe(Topic<Int>(), owner: owner, on: testHome.queue) { _, number in told.add(-number)
    }
    center.adding(Worker())
    _ = testHome.queue.sync { center.notify(WorkerProtocol.self) { $0.work(0) } }
    teller.end()
    #expect(told.all == [1, -1])
    #expect(teller.events.all.filter { $0.key == "Topic<Login>(\"login\")" }.count == 6)
    #expect(teller.events.all.filter { $0.key == "Topic<Int>()" }.isEmpty)
  }

  @Test func aNotifyInATaskThatACallbackStartsIsNotReported() async {
    let teller = Teller { center, _ in
      Task { center.notify(PingProtocol.self) { $0.ping(0) } }
    }
    let center = teller.makeCenter()
    center.adding(Listener { number in told.add(number) })
    center.adding(Worker())
    center.notify(WorkerProtocol.self) { $0.work(0) }
    await told.wait(for: 3)
    #expect(teller.events.all.count == 3)
    teller.end()
  }
}

/// An `onDelivery` callback can use the center, and its own deliveries are not reported to it.
@Suite struct CallbackTests {
  private final class Box: Sendable {
    let center = Locked<MulticastCenter?>(nil)
    let count = Atomic<Int>(0)
  }

  private static let latest = Topic<Int>("latest", keepsLatest: true)

  /// The callback of a message observes the topic of that message, so its handler receives the message at that moment.
  @Test func aCallbackThatObservesIsNotReportedToItself() {
    let box = Box()
    let owner = Owner()
    let center = MulticastCenter(onDelivery: { _ in
      // If its deliveries were reported to the callback, this would end the recursion.
      guard box.count.wrappingAdd(1, ordering: .relaxed).newValue < 1_000 else { return }
      box.center.withLock { $0 }?.observe(Self.latest, owner: owner, id: 1) { _, _ in }
    })
    center.observe(Self.latest, owner: owner) { _, _ in }
    box.center.withLock { $0 = center }
    center.post(Self.latest, 1)
    box.center.withLock { $0 = nil }
    #expect(box.count.load(ordering: .relaxed) <= 6)
    extendLifetime(owner)
  }

  @Test(arguments: [false, true]) func aSkippedMessageIsNotReportedAsCalled(isAwaiting: Bool) async
  {
    let events = Collected<DeliveryEvent>()
    let center = MulticastCenter(onDelivery: { events.add($0) })
    let owner = Owner()
    let handled = Collected<Int>()
    let (isCalled, mayReturn) = (Signal(), Signal())
    if isAwaiting {
      center.observe(Self.latest, owner: owner, newestOnly: true) { @Sendable _, number in
        handled.add(number)
        isCalled.send()
        await mayReturn.wait()
      }
    } else {
      let queue = DispatchQueue(label: "home")
      center.observe(Self.latest, owner: owner, newestOnly: true, on: queue) { _, number in
        handled.add(number)
        isCalled.send()
        mayReturn.wait()
      }
    }
    center.post(Self.latest, 1)
    await isCalled.wait()
    center.post(Self.latest, 2)
    center.post(Self.latest, 3)
    mayReturn.send()
    #expect(await center.settled())
    #expect(handled.all == [1, 3])
    let called = events.all.filter { if case .called = $0.phase { true } else { false } }
    #expect(called.count == 2)
    extendLifetime(owner)
  }

  enum Use: CaseIterable { case addAndRemove, observe, observeUnderAnID, post, postLatest, notify }

  @Test(arguments: Use.allCases) func aCallbackThatUsesTheCenterIsNotReportedToItself(use: Use) {
    let box = Box()
    let owner = Owner()
    let other = Counter()
    let center = MulticastCenter { _ in
    } onDelivery: { _ in
      // If its deliveries were reported to the callback, this would end the recursion.
      guard box.count.wrappingAdd(1, ordering: .relaxed).newValue < 1_000,
        let center = box.center.withLock({ $0 })
      else { return }
      switch use {
      case .addAndRemove:
        center.add(other, for: PingProtocol.self, on: nil)
        center.remove(other, for: PingProtocol.self)
      case .observe: center.observe(Self.latest, owner: owner) { _, _ in }
      case .observeUnderAnID: center.observe(Self.latest, owner: owner, id: 1) { _, _ in }
      case .post: center.post(PingProtocol.self) { $0.ping(1) }
      case .postLatest: center.post(Self.latest, 2)
      case .notify: center.notify(PingProtocol.self) { $0.ping(1) }
      }
    }
    center.post(Self.latest, 1)
    let counter = kept(Counter())
    center.add(counter, for: PingProtocol.self, on: nil)
    box.center.withLock { $0 = center }
    box.count.store(0, ordering: .relaxed)
    center.post(PingProtocol.self) { $0.ping(1) }
    #expect(box.count.load(ordering: .relaxed) == 3)
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(box.count.load(ordering: .relaxed) == 6)
    box.center.withLock { $0 = nil }
    #expect(counter.calls >= 2)
    extendLifetime((owner, other))
  }
}
