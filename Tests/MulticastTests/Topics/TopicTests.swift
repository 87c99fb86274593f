import TestSupport
import Testing

@testable import Multicast

@Suite struct TopicTests {
  let center = MulticastCenter()
  let journal = Journal()
  let owner = kept(Owner())

  @Test func topicsAreEqualIfTheirMessageTypesAndNamesAre() {
    #expect(Topic<Int>("a") == Topic<Int>("a"))
    #expect(Topic<Int>("a") != Topic<Int>("b"))
    #expect(Topic<Int>() == Topic<Int>(""))
    #expect(Topic<Int>("a").hashValue == Topic<Int>("a").hashValue)
    #expect(Topic<Int>("a").description == "Topic<Int>(\"a\")")
    #expect(Topic<Int>().description == "Topic<Int>()")
  }

  @Test func topicsWithOneNameAndDifferentMessageTypesAreDistinct() {
    center.observe(Topic<Int>("a"), owner: owner) { _, number in journal.write("\(number)") }
    center.observe(Topic<String>("a"), owner: owner) { _, text in journal.write(text) }
    #expect(center.post(Topic<Int>("a"), 7).clients == 1)
    #expect(center.post(Topic<String>("a"), "seven").clients == 1)
    #expect(journal.read() == "7 seven")
  }

  @Test func aTopicMatchesByItsWholeNameOnly() {
    for name in ["login", "log", "loginFailed", "Login", " login"] {
      center.observe(Topic<Int>(name), owner: owner) { _, _ in journal.write(name) }
    }
    #expect(center.post(Topic<Int>("log"), 1).clients == 1)
    #expect(journal.read() == "log")
    #expect(center.post(Topic<Int>("lo"), 1).clients == 0)
    #expect(center.post(Topic<Int>(), 1).clients == 0)
  }

  @Test func aPostReachesOnlyHandlersOfItsCenter() {
    center.observe(.login, owner: owner) { _, _ in journal.write("heard") }
    #expect(MulticastCenter().post(.login, Login(id: 1)).clients == 0)
    #expect(journal.read() == "")
  }

  @Test func aMessageCanBeATuple() {
    let moved = Topic<(from: Int, to: Int, animated: Bool)>("moved")
    center.observe(moved, owner: owner) { _, move in
      journal.write("\(move.from) \(move.to) \(move.animated)")
    }
    center.post(moved, (from: 1, to: 2, animated: true))
    #expect(journal.read() == "1 2 true")
  }

  @Test func aHandlerCanAnswerThroughAClosureInTheMessage() async {
    struct Question: Sendable {
      let text: String
      let answer: @Sendable (String) -> Void
    }
    // A topic needs no name if it is the only one of its message type.
    center.observe(Topic<Question>(), owner: owner) { owner, question in
      await Task.yield()
      question.answer("\(owner.name): \(question.text)!")
    }
    await center.post(Topic(), Question(text: "hello") { journal.write($0) }).delivered()
    journal.write("done")
    #expect(journal.read() == "owner: hello! done")
  }

  // MARK: - Topics that come and go

  @Test func aTopicKeepsItsHandlersWhileManyOtherTopicsAreInUse() {
    for number in 0..<100 { center.observe(Topic<Int>("\(number)"), owner: owner) { _, _ in } }
    for _ in 0..<(16 * 110) { center.post(Topic<Int>("7"), 1) }
    for number in 0..<100 { #expect(center.post(Topic<Int>("\(number)"), 1).clients == 1) }
  }

  @Test(arguments: [false, true])
  func noHandlerIsLostWhileOtherTopicsComeAndGo(keepsLatest: Bool) async {
    let rounds = Process.rounds(2000, quick: 300)
    let counter = Counter()
    let stays = Topic<Int>("stays", keepsLatest: keepsLatest)
    center.observe(stays, owner: owner) { _, number in counter.ping(number) }
    onThreads(4) { thread in
      for round in 0..<rounds {
        let topic = Topic<Int>("\(thread) \(round)", keepsLatest: keepsLatest)
        let owner = Owner()
        let observation = center.observe(topic, owner: owner) { _, _ in }
        #expect(center.post(topic, round).clients == 1)
        observation.cancel()
        #expect(center.removeLatest(of: topic) == (keepsLatest ? round : nil))
        center.post(stays, round)
        extendLifetime(owner)
      }
    }
    // A task may have taken over from a posting thread.
    await center.settled()
    #expect(counter.calls == 4 * rounds)
  }
}

/// A handler runs in the isolation in which it is written. ``HomeTests`` tests what is true of every home.
@Suite struct TopicIsolationTests {
  let center = MulticastCenter()

  /// Posts in a function that is not isolated.
  func postFromAHelper(_ id: Int) -> Int { center.post(.login, Login(id: id)).clients }

  @Test @MainActor func aPostOnTheMainActorCallsItsHandlerBeforeItReturns() {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    #expect(center.post(.login, Login(id: 1)).clients == 1)
    #expect(screen.shown == [1])
    #expect(postFromAHelper(2) == 1)
    #expect(screen.shown == [1, 2])
  }

  @Test @MainActor func aPostFromAnotherThreadCallsAHandlerOfTheMainActorThere() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.preconditionIsolated()
      screen.shown.append(login.id)
    }
    for round in 0..<50 {
      // These messages wait, because the main actor is busy here.
      onNewThread { for id in 0..<9 { center.post(.login, Login(id: 10 * round + id)) } }
      await center.post(.login, Login(id: 10 * round + 9)).delivered()
    }
    #expect(screen.shown == Array(0..<500))
  }

  @Test @MainActor func aOnceHandlerInAnotherHomeIsCalledOnce() async {
    let screen = Screen()
    center.observe(.login, owner: screen, once: true) { screen, login in
      screen.shown.append(login.id)
    }
    let taken = Atomic<Int>(0)
    onNewThread {
      onThreads(4) { id in
        taken.wrappingAdd(center.post(.login, Login(id: id)).clients, ordering: .relaxed)
      }
    }
    // Each post leaves a letter. The first letter that is handled calls the handler.
    #expect(taken.load(ordering: .relaxed) == 4)
    await center.settled()
    #expect(screen.shown.count == 1)
    #expect(center.post(.login, Login(id: 5)).clients == 0)
  }

  @Test func aHandlerThatUsesItsActorRunsInThatActor() async {
    actor Store {
      var ids: [Int] = []
      let center: MulticastCenter
      init(_ center: MulticastCenter) { self.center = center }
      func observe() {
        center.observe(.login, owner: self) { _, login in self.ids.append(login.id) }
      }
      func postHere() -> [Int] {
        center.post(.login, Login(id: 1))
        return ids
      }
    }
    let store = Store(center)
    await store.observe()
    // In the actor itself, the handler is called before `post` returns.
    #expect(await store.postHere() == [1])
    #expect(await center.post(.login, Login(id: 2)).delivered() == 1)
    #expect(await store.ids == [1, 2])
    // The handler captures its owner, and so retains it until the handler is removed.
    center.removeHandlers(of: .login)
  }

  @Test @MainActor func anAwaitingHandlerRunsInTheActorInWhichItIsWritten() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      await Task.yield()
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    await center.post(.login, Login(id: 1)).delivered()
    #expect(screen.shown == [1])
  }
}

@Suite struct TopicMessagesTests {
  let center = MulticastCenter()

  /// Returns the first `count` messages of a sequence.
  func first(_ count: Int, of messages: AsyncStream<Int>) async -> [Int] {
    var received: [Int] = []
    for await message in messages {
      received.append(message)
      if received.count == count { break }
    }
    return received
  }

  @Test func aSequenceContainsMessagesInOrderFromItsCreationOn() async {
    center.post(Topic<Int>(), 0)
    let messages = center.messages(of: Topic<Int>())
    for number in 1...5 { #expect(center.post(Topic<Int>(), number).clients == 1) }
    #expect(await first(5, of: messages) == [1, 2, 3, 4, 5])
  }

  @Test func leavingTheLoopOrReleasingTheSequenceEndsTheRegistration() async {
    do {
      let messages = center.messages(of: Topic<Int>())
      center.post(Topic<Int>(), 1)
      #expect(await first(1, of: messages) == [1])
    }
    #expect(center.post(Topic<Int>(), 2).clients == 0)
    do {
      let messages = center.messages(of: Topic<Int>())
      #expect(center.post(Topic<Int>(), 3).clients == 1)
      extendLifetime(messages)
    }
    #expect(center.post(Topic<Int>(), 4).clients == 0)
    do {
      var iterator = center.messages(of: Topic<Int>()).makeAsyncIterator()
      center.post(Topic<Int>(), 5)
      #expect(await iterator.next() == 5)
    }
    #expect(center.post(Topic<Int>(), 6).clients == 0)
  }

  @Test func cancellingTheTaskEndsTheLoop() async {
    let messages = kept(center.messages(of: Topic<Int>()))
    let received = Numbers()
    let loop = Task { for await message in messages { received.add(message) } }
    center.post(Topic<Int>(), 1)
    await received.wait(for: 1)
    loop.cancel()
    await loop.value
    #expect(received.all == [1])
    // The sequence is still retained here, but the registration of the loop has ended.
    #expect(center.post(Topic<Int>(), 2).clients == 0)
  }

  @Test func aCancelledLoopEndsItsRegistrationEvenIfItsIteratorIsRetained() async {
    let isCancelled = Signal()
    let task = Task {
      let iterator = center.messages(of: Topic<Int>()).makeAsyncIterator()
      var other = iterator
      await isCancelled.wait()
      #expect(await other.next() == nil)
      #expect(center.post(Topic<Int>(), 1).clients == 0)
      extendLifetime(iterator)
    }
    task.cancel()
    isCancelled.send()
    await task.value
  }

  @Test func boundedBuffersKeepTheNewestOrTheOldestMessages() async {
    let newest = center.messages(of: Topic<Int>(), buffering: .bufferingNewest(2))
    let oldest = center.messages(of: Topic<Int>(), buffering: .bufferingOldest(2))
    for number in 1...5 { center.post(Topic<Int>(), number) }
    #expect(await first(2, of: newest) == [4, 5])
    #expect(await first(2, of: oldest) == [1, 2])
  }

  @Test(arguments: [-1, .min]) func aStreamWithANegativeLimitHoldsNoMessage(limit: Int) async {
    let messages = center.messages(of: Topic<Int>(), buffering: .bufferingNewest(limit))
    let received = Numbers()
    let loop = Task {
      for await number in messages { return received.add(number) }
    }
    // Until the loop waits, the stream drops each message. Then it passes one on.
    while received.all.isEmpty {
      center.post(Topic<Int>(), 1)
      #expect(center.wiring.topics.allSatisfy { $0.listeners.allSatisfy { $0.unread ?? 0 == 0 } })
      await Task.yield()
    }
    await loop.value
  }

  /// A program may take a topic's type for a listener protocol. That is a key of its own.
  @Test func theTypeOfATopicIsNotTheKeyOfItsHandlers() {
    let (topic, owner) = (Topic<Int>("number"), kept(Owner()))
    let numbers = Numbers()
    for isUsedBefore in [false, true] {
      let center = MulticastCenter()
      if isUsedBefore { #expect(center[Topic<Int>.self].isEmpty) }
      center.observe(topic, owner: owner) { _, number in numbers.add(number) }
      #expect(center.notify(Topic<Int>.self) { _ in } == 0)
      #expect(center[Topic<Int>.self].isEmpty)
      center.removeAll(for: Topic<Int>.self)
      #expect(center.post(topic, 1).clients == 1)
      #expect(center.wiring.topics.count == 1)
    }
    #expect(numbers.all == [1, 1])
  }

  @Test func aLoopReceivesEarlierMessagesAndEndsWhenObserversAreRemoved() async {
    let messages = center.messages(of: Topic<Int>())
    center.post(Topic<Int>(), 1)
    center.removeHandlers(of: Topic<Int>())
    var received: [Int] = []
    for await message in messages { received.append(message) }
    #expect(received == [1])
  }

  @Test func aLoopEndsWithTheCenterAndDoesNotRetainIt() async {
    var center = Optional(MulticastCenter())
    weak var reference: MulticastCenter?
    reference = center
    let messages = center!.messages(of: Topic<Int>())
    center?.post(Topic<Int>(), 1)
    center = nil
    #expect(reference == nil)
    var received: [Int] = []
    for await message in messages { received.append(message) }
    for await message in messages { received.append(message) }
    #expect(received == [1])
  }
}
