import TestSupport
@testable import Multicast
import Testing

@Suite struct TopicTests {
  let center = MulticastCenter()
  let journal = Journal()
  let owner = kept(Owner())

  @Test func aTopicIsItsMessageTypeAndItsName() {
    #expect(Topic<Int>("a") == Topic<Int>("a"))
    #expect(Topic<Int>("a") != Topic<Int>("b"))
    #expect(Topic<Int>() == Topic<Int>(""))
    #expect(Topic<Int>("a").hashValue == Topic<Int>("a").hashValue)
    #expect(Topic<Int>("a").description == "Topic<Int>(\"a\")")
    #expect(Topic<Int>().description == "Topic<Int>()")
  }

  @Test func theSameNameWithAnotherMessageTypeIsAnotherTopic() {
    center.observe(Topic<Int>("a"), owner: owner) { _, number in journal.write("\(number)") }
    center.observe(Topic<String>("a"), owner: owner) { _, text in journal.write(text) }
    #expect(center.post(Topic<Int>("a"), 7) == 1)
    #expect(center.post(Topic<String>("a"), "seven") == 1)
    #expect(journal.read() == "7 seven")
  }

  @Test func namesNeverMatchByAPart() {
    for name in ["login", "log", "loginFailed", "Login", " login"] {
      center.observe(Topic<Int>(name), owner: owner) { _, _ in journal.write(name) }
    }
    #expect(center.post(Topic<Int>("log"), 1) == 1)
    #expect(journal.read() == "log")
    #expect(center.post(Topic<Int>("lo"), 1) == 0)
    #expect(center.post(Topic<Int>(), 1) == 0)
  }

  @Test func centersDoNotMix() {
    center.observe(.login, owner: owner) { _, _ in journal.write("heard") }
    #expect(MulticastCenter().post(.login, Login(id: 1)) == 0)
    #expect(journal.read() == "")
  }

  @Test func aMessageMayHaveSeveralTypedParts() {
    let moved = Topic<(from: Int, to: Int, animated: Bool)>("moved")
    center.observe(moved, owner: owner) { _, move in
      journal.write("\(move.from) \(move.to) \(move.animated)")
    }
    center.post(moved, (from: 1, to: 2, animated: true))
    #expect(journal.read() == "1 2 true")
  }

  @Test func aMessageMayBeAnsweredByAClosureInIt() async {
    struct Question: Sendable {
      let text: String
      let answer: @Sendable (String) -> Void
    }
    // The topic of a type needs no name.
    center.observe(Topic<Question>(), owner: owner) { owner, question in
      await Task.yield()
      question.answer("\(owner.name): \(question.text)!")
    }
    await center.postAndWait(Topic(), Question(text: "hello") { journal.write($0) })
    journal.write("done")
    #expect(journal.read() == "owner: hello! done")
  }

  // MARK: - Topics that come and go

  @Test func postsToOneTopicReclaimOthersWhoseOwnersHaveEnded() {
    // The first topic of a type is kept for good, and the second one is used below.
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    center.observe(Topic<Int>("used"), owner: owner) { _, _ in }
    do {
      let passing = Owner()
      for number in 0..<100 {
        let sentinel = Sentinel(journal)
        center.observe(Topic<Int>("\(number)"), owner: passing) { _, _ in extendLifetime(sentinel) }
      }
      extendLifetime(passing)
    }
    for number in 0..<(16 * 110) { center.post(Topic<Int>("used"), number) }
    #expect(journal.read().split(separator: " ").count == 100)
  }

  @Test func aTopicIsNotForgottenForTheObserversOfAnother() {
    for number in 0..<100 { center.observe(Topic<Int>("\(number)"), owner: owner) { _, _ in } }
    for _ in 0..<(16 * 110) { center.post(Topic<Int>("7"), 1) }
    for number in 0..<100 { #expect(center.post(Topic<Int>("\(number)"), 1) == 1) }
  }

  @Test(arguments: [false, true])
  func noObserverIsLostWhileTopicsComeAndGo(keepsLatest: Bool) {
    let rounds = Process.rounds(2000, quick: 300)
    let counter = Counter()
    let stays = Topic<Int>("stays", keepsLatest: keepsLatest)
    center.observe(stays, owner: owner) { _, number in counter.ping(number) }
    onThreads(4) { thread in
      for round in 0..<rounds {
        let topic = Topic<Int>("\(thread) \(round)", keepsLatest: keepsLatest)
        let owner = Owner()
        let observation = center.observe(topic, owner: owner) { _, _ in }
        #expect(center.post(topic, round) == 1)
        observation.cancel()
        #expect(center.removeLatest(of: topic) == (keepsLatest ? round : nil))
        center.post(stays, round)
        extendLifetime(owner)
      }
    }
    #expect(counter.calls == 4 * rounds)
  }

  #if DEBUG
    @Test func aNameThatIsAlmostThatOfAnObservedTopicIsToldOnce() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner) = (MulticastCenter(), Owner())
        center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
        center.observe(Topic<Int>("login"), owner: owner) { _, _ in }
        for name in ["Login", "Login", "logins", "logim", "logout", "", "login"] {
          center.post(Topic<Int>(name), 1)
        }
        center.post(Topic<String>("Login"), "")
        // As if it had been observed since the lookup.
        center.hint(at: Topic<Int>("first"), from: CallSite())
        extendLifetime(owner)
      }
      let lines = text(result).split(separator: "\n")
      #expect(lines.count == 3)
      for (line, name) in zip(lines, ["Login", "logins", "logim"]) {
        #expect(
          line.contains("nobody has observed the topic \"\(name)\" with messages of type Int"))
        #expect(line.contains("but \"login\" is observed"))
      }
    }
  #endif
}
