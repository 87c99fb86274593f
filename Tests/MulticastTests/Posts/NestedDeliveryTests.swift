import Dispatch
import Multicast
import TestSupport
import Testing

/// Posts and notifies that are made inside each other: which ones are nested, and which ones follow.
@Suite struct NestedDeliveryTests {
  let owner = kept(Owner())
  let calls = Numbers()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let journal = Journal()

  @Test func aNotifyDuringACallOfAPostIsNested() {
    center.adding(Listener { number in journal.write("ping\(number)") })
    center.observe(Topic<Int>(), owner: owner) { _, number in
      journal.write("begin")
      center.notify(PingProtocol.self) { $0.ping(number) }
      journal.write("end")
    }
    center.post(Topic<Int>(), 1)
    #expect(journal.read() == "begin ping1 end")
    #expect(reports.all.isEmpty)
  }

  @Test func aPostInsideANotifyDuringACallOfAPostFollows() {
    center.adding(
      Listener { number in
        center.post(Topic<String>(), "\(number)")
        journal.write("ping\(number)")
      })
    center.observe(Topic<String>(), owner: owner) { _, text in journal.write("text\(text)") }
    center.observe(Topic<Int>(), owner: owner) { _, number in
      center.notify(PingProtocol.self) { $0.ping(number) }
      journal.write("end")
    }
    center.post(Topic<Int>(), 1)
    #expect(journal.read() == "ping1 end text1")
    #expect(reports.all.isEmpty)
  }

  @Test func aPostDuringACallOfANotifyIsDeliveredWithinTheCall() {
    center.adding(
      Listener { number in
        center.post(Topic<Int>(), number)
        journal.write("ping\(number)")
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in journal.write("int\(number)") }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(journal.read() == "int1 ping1")
  }

  /// The calls for a letter are not nested in the delivery of the thread that handles it, even if that thread is delivering.
  @Test func aNotifyDuringAForeignLetterIsNotNestedInTheHandlingThread() {
    let testHome = TestHome()
    @Sendable func notify(_ number: Int) { center.notify(PingProtocol.self) { $0.ping(number) } }
    center.adding(
      Listener { number in
        calls.add(number)
        // Posts in the home in which the letter waits.
        if number == 1 { center.post(Topic<String>(), "now") }
      })
    center.observe(Topic<Int>(), owner: owner, on: testHome.queue) { _, number in notify(number) }
    center.observe(Topic<String>(), owner: owner, on: testHome.queue) { _, _ in }
    testHome.queue.sync {
      onNewThread { center.post(Topic<Int>(), 2) }
      notify(1)
    }
    #expect(calls.all == [1, 2])
    #expect(reports.all.isEmpty)
  }

  /// A thread that posts in a home handles foreign letters first. The posts of their handlers are not nested in the thread's delivery.
  @Test func aPostThatFollowsAForeignLetterIsNotNestedInThePostingThread() {
    let (center, owner, calls) = (center, owner, calls)
    let testHome = TestHome()
    @Sendable func notify() { center.notify(PingProtocol.self) { $0.ping(calls.all.count) } }
    // The handler of the foreign letter posts, and the handler of that post notifies.
    center.observe(.login, owner: owner, on: testHome.queue) { _, _ in
      center.post(Topic<String>(), "")
    }
    center.observe(Topic<String>(), owner: owner) { _, _ in notify() }
    center.observe(Topic<Int>(), owner: owner, on: testHome.queue) { _, _ in }
    center.adding(
      Listener { number in
        calls.add(number)
        if number > 0 { return }
        onNewThread { center.post(.login, Login(id: 1)) }
        center.post(Topic<Int>(), 1)
      })
    testHome.queue.sync { notify() }
    #expect(reports.all.isEmpty)
    #expect(calls.all == [0, 1])
  }

  @Test func aNotifyThatRecursThroughAPostIsRefused() {
    @Sendable func notify(_ number: Int) { center.notify(PingProtocol.self) { $0.ping(number) } }
    center.adding(
      Listener { number in
        calls.add(number)
        if number < 5000 { center.post(Topic<Int>(), number + 1) }
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in notify(number) }
    notify(0)
    #expect(calls.all == [0])
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.isPost == false)
  }

  @Test func postsToAnotherCenterAreNestedAndPostsToTheSameCenterFollow() {
    let one = MulticastCenter()
    let two = MulticastCenter()
    one.observe(Topic<Int>(), owner: owner) { _, number in
      journal.write("one\(number)(")
      if number < 2 { two.post(Topic<Int>(), number + 1) }
      journal.write(")")
    }
    two.observe(Topic<Int>(), owner: owner) { _, number in
      journal.write("two\(number)(")
      one.post(Topic<Int>(), number + 1)
      journal.write(")")
    }
    one.post(Topic<Int>(), 0)
    #expect(journal.read() == "one0( two1( ) ) one2( )")
  }

  @Test func aPostThatFollowsIsNotNestedInThePostBeforeIt() {
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    center.adding(
      Listener { number in
        journal.write("ping\(number)")
        if number == 1 { center.post(Topic<Int>(), 2) }
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in
      center.notify(PingProtocol.self) { $0.ping(number) }
    }
    // The calls of this post have returned when the post that follows is delivered.
    center.post(PingProtocol.self) { $0.ping(1) }
    #expect(journal.read() == "ping1 ping2")
    #expect(reports.all.isEmpty)
  }

  private enum Carried {
    @TaskLocal static var probe: Probe?
  }

  /// Notifies lists that it makes when it is released.
  private final class Probe: Sendable {
    let centers: [MulticastCenter]
    let client = Counter()

    init(_ reports: Reports) {
      centers = (0..<20).map { _ in
        MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
      }
    }

    deinit {
      for center in centers {
        center.add(client, for: PingProtocol.self)
        center.notify(PingProtocol.self) { $0.ping(1) }
      }
    }
  }

  /// The post owns the last reference to its list, and carries a value that is destroyed after that. A list that is made then may
  /// have the same address.
  @Test func aListThatIsMadeWhileAPostIsDestroyedIsNotNestedInThePost() async {
    let home = TestHome()
    let client = Counter()
    home.queue.suspend()
    do {
      let center = MulticastCenter(carrying: CarriedValue(Carried.$probe))
      center.add(client, for: PingProtocol.self, on: home.queue)
      Carried.$probe.withValue(Probe(reports)) { center.post(PingProtocol.self) { $0.ping(1) } }
    }
    home.queue.resume()
    await withCheckedContinuation { called in home.queue.async { called.resume() } }
    #expect(client.calls == 1)
    #expect(reports.all.isEmpty)
  }

  @Test func aNotifyDuringAPostThatFollowsIsNestedInThatPost() {
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    center.adding(
      Listener { number in
        journal.write("ping\(number)")
        if number == 1 { center.notify(PingProtocol.self) { $0.ping(2) } }
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in
      center.post(PingProtocol.self) { $0.ping(number) }
    }
    center.post(Topic<Int>(), 1)
    #expect(journal.read() == "ping1")
    #expect(reports.all.count == 1)
  }

  @Test func recurringPostsDoNotGrowTheStack() {
    let seen = Numbers()
    center.observe(Topic<Int>(), owner: owner) { _, number in
      // The size is not a constant, because the address sanitizer allocates constant sizes outside the stack.
      withUnsafeTemporaryAllocation(byteCount: 1 + min(number, 0), alignment: 1) {
        seen.add(Int(bitPattern: $0.baseAddress))
      }
      if number < 900 { center.post(Topic<Int>(), number + 1) }
    }
    center.post(Topic<Int>(), 0)
    #expect(Set(seen.all.dropFirst()).count == 1)
    #expect(seen.all.count == 901)
  }
}

/// `postOnMain` calls all clients on the main actor, on whichever thread it is called.
@Suite struct PostOnMainTests {
  @MainActor private protocol ScreenProtocol {
    func show(_ number: Int)
  }

  @MainActor private final class Screen: ScreenProtocol {
    var numbers: [Int] = []
    func show(_ number: Int) {
      MainActor.assertIsolated()
      numbers.append(number)
    }
  }

  let center = MulticastCenter()
  let delegates = MulticastDelegate<any PingProtocol>()

  @Test @MainActor func postOnMainFromAnotherThreadCallsLaterAndInOrder() async {
    let screen = Screen()
    center.add(screen, for: ScreenProtocol.self)
    onNewThread {
      for number in 1...100 {
        #expect(center.postOnMain(ScreenProtocol.self) { $0.show(number) }.clients == 1)
      }
    }
    #expect(screen.numbers == [])
    #expect(await center.postOnMain(ScreenProtocol.self) { $0.show(101) }.delivered() == 1)
    #expect(screen.numbers == Array(1...101))
  }

  @Test @MainActor func postOnMainOnTheMainActorCallsBeforeItReturns() {
    let screen = Screen()
    center.add(screen, for: ScreenProtocol.self)
    center.postOnMain(ScreenProtocol.self) { $0.show(1) }
    #expect(screen.numbers == [1])
  }

  @Test func postOnMainCallsAClientWithoutAHomeOnTheMainActor() async {
    delegates.adding(Listener { _ in MainActor.assertIsolated() })
    #expect(delegates.postOnMain { $0.ping(1) }.clients == 1)
    #expect(await delegates.postOnMain { $0.ping(2) }.delivered() == 1)
  }

  @Test func postOnMainWithoutClientsCallsNothing() async {
    #expect(center.postOnMain(PingProtocol.self) { $0.ping(1) }.clients == 0)
    #expect(await center.postOnMain(PingProtocol.self) { $0.ping(1) }.delivered() == 0)
    #expect(delegates.postOnMain { $0.ping(1) }.clients == 0)
  }

  @Test @MainActor func aRecurringPostOnMainIsReportedWithItsCallSite() async {
    let reports = Reports()
    let center = reports.center
    let client = Client("", Journal())
    center.add(client, for: PingProtocol.self)
    let line = #line + 1
    @MainActor func post() { center.postOnMain(PingProtocol.self) { $0.ping(1) } }
    client.onPing = { _ in MainActor.assumeIsolated { post() } }
    post()
    await center.postOnMain(PingProtocol.self) { _ in }.delivered()
    #expect(reports.all.first?.path.last?.line == line)
  }
}
