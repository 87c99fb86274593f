import Dispatch
import Multicast
import TestSupport
import Testing

/// Rule 17 of the contract: a topic that keeps its latest message.
@Suite struct LatestTests {
  let owner = kept(Owner())
  let homes = Homes()
  let numbers = Numbers()
  let center = MulticastCenter()
  let journal = Journal()
  let topic = Topic<Int>("state", keepsLatest: true)

  // MARK: - The stored message

  @Test func aTopicKeepsItsLatestMessageUntilItIsRemoved() {
    #expect(center.latest(of: topic) == nil)
    #expect(center.post(topic, 1).clients == 0)
    #expect(center.latest(of: topic) == 1)
    center.post(topic, 2)
    #expect(center.latest(of: topic) == 2)
    #expect(center.removeLatest(of: topic) == 2)
    #expect(center.latest(of: topic) == nil)
    #expect(center.removeLatest(of: topic) == nil)
    center.observe(topic, owner: owner) { [numbers] _, number in numbers.add(number) }
    #expect(numbers.all == [])
  }

  @Test func keepsLatestIsNotPartOfATopicsIdentity() {
    #expect(Topic<Int>("state") == topic)
    #expect(Set([topic, Topic<Int>("state")]).count == 1)
  }

  #if DEBUG
    @Test(.serialized, arguments: [false, true])
    func topicsThatDisagreeAboutKeepsLatestStopADebugBuild(keepsLatest: Bool) async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        [keepsLatest] in
        let center = MulticastCenter()
        let owner = kept(Owner())
        center.observe(Topic<Int>("state", keepsLatest: keepsLatest), owner: owner) { _, _ in }
        center.post(Topic<Int>("state", keepsLatest: !keepsLatest), 1)
      }
      let text = text(result)
      #expect(text.contains("two topics have the same name and message type: Topic<Int>(\"state\""))
      #expect(text.components(separatedBy: "LatestTests.swift:").count >= 3)
    }
  #endif

  @Test func aLatestMessageCanHaveAnySize() async {
    struct Large: Sendable, Equatable {
      var texts = ["a", "b"]
      var numbers = (1...4).map { "a text that needs memory of its own: \($0)" }
      var more = [3.0, 4.0]
      var last = "last"
    }
    let topic = Topic<Large>("large", keepsLatest: true)
    center.post(topic, Large())
    #expect(center.latest(of: topic) == Large())
    let received = Numbers()
    center.observe(topic, owner: owner, on: homes.one.queue) { _, message in
      received.add(message == Large() ? 1 : -1)
    }
    await center.post(topic, Large()).delivered()
    #expect(received.all == [1, 1])
    #expect(center.removeLatest(of: topic) == Large())
  }

  @Test func aMessageThatIsNilIsNotTakenForNoMessage() {
    let topic = Topic<Int?>("optional", keepsLatest: true)
    #expect(center.latest(of: topic) == .none)
    #expect(center.removeLatest(of: topic) == .none)
    center.post(topic, nil)
    #expect(center.latest(of: topic) == .some(nil))
    #expect(center.removeLatest(of: topic) == .some(nil))
    #expect(center.removeLatest(of: topic) == .none)
  }

  @Test(arguments: HomeKind.allCases)
  func latestInAHandlerIsItsMessageOrALaterOne(home: HomeKind) async {
    center.observe(topic, owner: owner, in: home, of: homes) { number in
      guard let latest = center.latest(of: topic) else { return numbers.add(-1) }
      numbers.add(latest >= number ? number : -number)
      if number == 3 { center.removeLatest(of: topic) }
    }
    for number in 1...2 { center.post(topic, number) }
    await center.post(topic, 3).delivered()
    #expect(numbers.all == [1, 2, 3])
    #expect(center.latest(of: topic) == nil)
    center.observe(topic, owner: kept(Owner())) { [numbers] _, number in numbers.add(number) }
    #expect(numbers.all == [1, 2, 3])
  }

  @Test func aTopicWithoutObserversKeepsItsMessage() {
    for name in 0..<100 { center.post(Topic<Int>("\(name)", keepsLatest: true), name) }
    for name in 0..<100 { center.post(Topic<Int>("other\(name)", keepsLatest: true), name) }
    for name in 0..<100 {
      #expect(center.latest(of: Topic<Int>("\(name)", keepsLatest: true)) == name)
    }
  }

  // MARK: - New handlers

  @Test(arguments: HomeKind.allCases) func aNewHandlerReceivesTheLatestMessageFirst(home: HomeKind)
    async
  {
    center.post(topic, 1)
    center.observe(topic, owner: owner, in: home, of: homes) { number in numbers.add(number) }
    if home == .none { #expect(numbers.all == [1]) }
    await center.post(topic, 2).delivered()
    #expect(numbers.all == [1, 2])
  }

  @Test @MainActor func aNewHandlerOnTheMainActorReceivesTheLatestMessageBeforeObserveReturns() {
    let screen = Screen()
    onNewThread { center.post(topic, 1) }
    center.observe(topic, owner: screen) { screen, number in screen.shown.append(number) }
    #expect(screen.shown == [1])
    onNewThread { center.post(topic, 2) }
    center.post(topic, 3)
    #expect(screen.shown == [1, 2, 3])
  }

  @Test func aSequenceOfMessagesBeginsWithTheLatestMessage() async {
    center.post(topic, 1)
    var messages = center.messages(of: topic).makeAsyncIterator()
    center.post(topic, 2)
    #expect(await messages.next() == 1)
    #expect(await messages.next() == 2)
  }

  @Test func aOnceHandlerReceivesOnlyTheLatestMessage() {
    center.post(topic, 1)
    let observation = center.observe(topic, owner: owner, once: true) { [journal] _, number in
      journal.write("\(number)")
    }
    #expect(!observation.isActive)
    center.post(topic, 2)
    #expect(journal.read() == "1")
  }

  @Test func aHandlerAddedDuringACallReceivesTheMessageOfThatCall() {
    let adds = Atomic<Int>(0)
    center.post(topic, 1)
    center.removeLatest(of: topic)
    center.observe(topic, owner: owner, id: "outer") { owner, number in
      journal.write("outer\(number)")
      guard adds.wrappingAdd(1, ordering: .relaxed).newValue == 1 else { return }
      center.observe(topic, owner: owner, id: "inner") { _, number in
        journal.write("inner\(number)")
      }
    }
    center.post(topic, 2)
    #expect(journal.read() == "outer2 inner2")
    center.post(topic, 3)
    #expect(journal.read() == "outer3 inner3")
  }

  /// A handler of the posting thread may wait for the handlers of other homes.
  @Test func otherHomesBeginBeforeHandlersOfThePostingThreadAreCalled() {
    center.observe(.login, owner: owner) { [center, topic, homes, journal] owner, _ in
      center.post(topic, 1)
      // They register after that post was made, and before it is delivered and stored.
      center.observe(topic, owner: owner) { _, _ in
        homes.one.queue.sync {}
        journal.write("here")
      }
      center.observe(topic, owner: owner, on: homes.one.queue) { _, _ in journal.write("queue") }
    }
    center.post(.login, Login(id: 1))
    #expect(journal.read() == "queue here")
  }

  @Test func aHandlerAddedOnAQueueDuringACallReceivesEachMessageOnce() async {
    let adds = Atomic<Int>(0)
    center.post(topic, 1)
    center.observe(topic, owner: owner, id: "outer") { owner, number in
      guard number == 2, adds.wrappingAdd(1, ordering: .relaxed).newValue == 1 else { return }
      center.observe(topic, owner: owner, id: "inner", on: homes.one.queue) { _, number in
        journal.write("\(number)")
      }
    }
    center.post(topic, 2)
    await center.post(topic, 3).delivered()
    #expect(journal.read() == "2 3")
  }

  // MARK: - Posts of other threads

  @Test(arguments: [HomeKind.none, .queue, .task])
  func aHandlerAddedWhileOtherThreadsPostMissesNoMessage(home: HomeKind) async {
    let observers = Process.rounds(300, quick: 100)
    let posts = Process.rounds(200, quick: 100)
    let threads = 8
    let owners = kept((0..<observers).map { _ in Owner() })
    let received = owners.map { _ in Numbers() }
    center.post(topic, -1)
    onThreads(threads + 1) { thread in
      guard thread == threads else {
        for number in 0..<posts { center.post(topic, 1000 * thread + number) }
        return
      }
      for (owner, numbers) in zip(owners, received) {
        center.observe(topic, owner: owner, in: home, of: homes) { number in numbers.add(number) }
      }
    }
    await center.post(topic, -2).delivered()
    for numbers in received {
      let all = numbers.all
      #expect(Set(all).count == all.count)
      #expect(all.last == -2)
      for thread in 0..<threads {
        let own = all.filter { $0 >= 0 && $0 / 1000 == thread }.map { $0 % 1000 }
        #expect(own == Array((posts - own.count)..<posts))
      }
    }
  }

  // MARK: - Replaced handlers

  @Test func aHandlerReplacedDuringAPostReceivesTheLatestMessageLast() async {
    let (called, go) = (Signal(), Signal())
    center.post(topic, 1)
    center.observe(topic, owner: owner, id: "replaced") { _, _ in }
    center.observe(topic, owner: owner, id: "slow") { _, number in
      guard number == 2 else { return }
      called.send()
      go.wait()
    }
    let done = Signal()
    DispatchQueue(label: "poster").async {
      center.post(topic, 2)
      done.send()
    }
    await called.wait()
    center.observe(topic, owner: owner, id: "replaced") { _, number in numbers.add(number) }
    go.send()
    await done.wait()
    #expect(numbers.all.last == center.latest(of: topic))
    #expect(Set(numbers.all).count == numbers.all.count)
  }

  @Test(arguments: [HomeKind.none, .queue])
  func aHandlerReplacedDuringItsFirstCallPassesOnWaitingMessagesInItsHome(home: HomeKind) async {
    let (called, go, done) = (Signal(), Signal(), Signal())
    center.post(topic, 1)
    DispatchQueue(label: "observer").async {
      center.observe(topic, owner: owner, in: .none, of: homes) { number in
        guard number == 1 else { return numbers.add(-number) }
        called.send()
        go.wait()
      }
      done.send()
    }
    await called.wait()
    // These messages wait until the first call returns.
    center.post(topic, 2)
    center.post(topic, 3)
    center.observe(topic, owner: owner, in: home, of: homes) { number in numbers.add(number) }
    go.send()
    await done.wait()
    await center.post(topic, 4).delivered()
    #expect(numbers.all == (home == .none ? [2, 3, 4] : [3, 4]))
  }

  @Test(arguments: HomeKind.allCases)
  func aReplacementBeginsWithTheLatestMessage(home: HomeKind) async {
    center.observe(topic, owner: owner, in: home, of: homes) { _ in }
    await center.post(topic, 1).delivered()
    for _ in 0..<300 {
      center.observe(topic, owner: owner, in: home, of: homes) { number in numbers.add(number) }
      if home == .none { #expect(numbers.all.last == 1) }
    }
    await center.post(topic, 2).delivered()
    let all = numbers.all
    #expect(all.last == 2 && all.dropLast().allSatisfy { $0 == 1 } && all.count > 1)
  }

  @Test func aHandlerReplacedManyTimesReceivesTheWaitingMessageOnce() async {
    center.post(topic, 1)
    homes.one.queue.suspend()
    for _ in 0..<300 {
      center.observe(topic, owner: owner, in: .queue, of: homes) { number in numbers.add(number) }
    }
    center.post(topic, 2)
    homes.one.queue.resume()
    await center.post(topic, 3).delivered()
    #expect(numbers.all == [1, 2, 3])
  }

  // MARK: - Order and threads

  /// Each home calls its handlers in the order of registration. No order is promised between homes.
  @Test @MainActor func handlersOfOneHomeAreCalledInTheOrderOfRegistration() {
    let screen = Screen()
    func observe(_ name: String) {
      center.observe(topic, owner: screen) { [journal] _, _ in journal.write(name) }
    }
    observe("1")
    center.observe(topic, owner: owner, id: "nowhere") { @Sendable [journal] _, _ in
      journal.write("nowhere")
    }
    observe("2")
    center.post(topic, 1)
    #expect(journal.read().split(separator: " ").filter { $0 != "nowhere" } == ["1", "2"])
  }

  /// The handlers without a home of one topic share a mailbox.
  @Test func aThreadLeavesALetterWhileAnotherOneCallsHandlersWithoutAHome() async {
    let (called, go, done) = (Signal(), Signal(), Signal())
    center.observe(topic, owner: owner, id: "slow") { _, number in
      if number == 1 {
        called.send()
        go.wait()
      }
      numbers.add(number)
    }
    center.observe(topic, owner: owner, id: "quick") { _, number in numbers.add(10 * number) }
    DispatchQueue(label: "poster").async {
      center.post(topic, 1)
      done.send()
    }
    await called.wait()
    center.post(topic, 2)
    #expect(numbers.all == [])
    go.send()
    await done.wait()
    #expect(numbers.all == [1, 10, 2, 20])
  }
}
