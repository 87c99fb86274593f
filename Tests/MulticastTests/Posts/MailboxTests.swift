import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// The mailboxes of a center: which home has which mailbox, and when letters, actors and memory are released.
@Suite struct MailboxTests {
  let owner = kept(Owner())
  let testHome = TestHome()
  let center = MulticastCenter()

  @Test func aLetterQueueReusesTheMemoryOfHandledLetters() {
    var queue = LetterQueue()
    let list = ClientList(.listener(PingProtocol.self))
    let post = Post(to: list, from: CallSite())
    let group = Roster.Group(of: Mailbox(.clientTask(0)), [])
    for _ in 0..<500 { queue.append(Letter(post: post, group: group)) }
    for _ in 0..<100_000 {
      queue.append(Letter(post: post, group: group))
      _ = queue.popFirst()
    }
    #expect(queue.count == 500)
    #expect(queue.capacity < 4_000)
  }

  @Test(arguments: [false, true]) func lettersWithoutListenersAreReleasedInTheirHome(
    ownerEnds: Bool
  ) async {
    let ends = Atomic<Int>(0)
    testHome.queue.suspend()
    // With 10,000 waiting letters, a debug build would print a message.
    for _ in 0..<19 {
      let passing = Owner()
      let observation = center.observe(Topic<Sentinel>(), owner: passing, on: testHome.queue) {
        _, _ in
      }
      for _ in 0..<500 {
        center.post(Topic<Sentinel>(), Sentinel { ends.wrappingAdd(1, ordering: .relaxed) })
      }
      if !ownerEnds { observation.cancel() }
      extendLifetime(passing)
    }
    // The letters wait, because their home does not run.
    #expect(ends.load(ordering: .relaxed) == 0)
    testHome.queue.resume()
    await center.settled()
    #expect(ends.load(ordering: .relaxed) == 9_500)
  }

  @Test func aQueueWithTheMainQueuesLabelIsNotTheMainQueue() async {
    let testHome = TestHome("com.apple.main-thread")
    let isThere = Collected<Bool>()
    center.observe(.login, owner: owner, on: testHome.queue) { _, _ in
      isThere.add(testHome.isCurrent)
    }
    for id in 0..<40 { await center.post(.login, Login(id: id)).delivered() }
    #expect(isThere.all == Array(repeating: true, count: 40))
  }

  @Test func queuesWithTheLabelOfAGlobalQueueAreSeparateHomes() async {
    let label = DispatchQueue.global().label
    let testHomes = [TestHome(label), TestHome(label)]
    let isThere = Collected<Bool>()
    for testHome in testHomes {
      center.observe(.login, owner: owner, on: testHome.queue) { _, _ in
        isThere.add(testHome.isCurrent)
      }
    }
    testHomes[0].queue.suspend()
    center.post(.login, Login(id: 1))
    testHomes[1].queue.sync {}
    #expect(isThere.all == [true])
    testHomes[0].queue.resume()
    await center.settled()
    #expect(isThere.all == [true, true])
  }

  @Test func eachGlobalQueueHasOneMailbox() {
    let classes: [DispatchQoS.QoSClass] = [.userInitiated, .default, .utility, .background]
    let homes = classes.map { qos in center.office.mailbox(of: .global(qos: qos)) }
    for (qos, home) in zip(classes, homes) {
      #expect(center.office.mailbox(of: .global(qos: qos)) === home)
      #expect(DispatchQueue.global(qos: qos).isGlobal)
    }
    #expect(Set(homes.map { ObjectIdentifier($0) }).count == classes.count)
    #expect(center.office.mailbox(of: .main) === center.office.mainMailbox)
  }

  @Test @MainActor func aHandlerOnTheMainQueueIsCalledWithinAPostOfTheMainActor() {
    let numbers = Numbers()
    center.observe(.login, owner: owner, on: .main) { _, login in numbers.add(login.id) }
    center.post(.login, Login(id: 1))
    #expect(numbers.all == [1])
  }

  /// If it were, a post in its `deinit` would wait for that lock forever.
  @Test func noActorIsDeallocatedWithALockHeld() {
    let topic = Topic<Login>()
    let client = Counter()
    center.observe(topic, owner: owner, on: testHome.queue) { _, _ in }
    onThreads(2) { thread in
      for _ in 0..<Process.rounds(200_000, quick: 20_000) {
        // Looks up the mailbox of the queue after the other thread has looked up that of an actor.
        if thread == 0 { center[PingProtocol.self].add(client, on: testHome.queue) }
        if thread == 1 {
          let actor = Poster(center, topic)
          center[PingProtocol.self].add(client, isolation: actor)
          extendLifetime(actor)
        }
      }
    }
  }
}

/// Posts in its `deinit`.
private actor Poster {
  private let center: MulticastCenter
  private let topic: Topic<Login>

  init(_ center: MulticastCenter, _ topic: Topic<Login>) {
    (self.center, self.topic) = (center, topic)
  }

  deinit { center.post(topic, Login(id: 1)) }
}
