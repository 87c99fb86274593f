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
    #expect(center.post(Topic<Int>("a"), 7).clients == 1)
    #expect(center.post(Topic<String>("a"), "seven").clients == 1)
    #expect(journal.read() == "7 seven")
  }

  @Test func namesNeverMatchByAPart() {
    for name in ["login", "log", "loginFailed", "Login", " login"] {
      center.observe(Topic<Int>(name), owner: owner) { _, _ in journal.write(name) }
    }
    #expect(center.post(Topic<Int>("log"), 1).clients == 1)
    #expect(journal.read() == "log")
    #expect(center.post(Topic<Int>("lo"), 1).clients == 0)
    #expect(center.post(Topic<Int>(), 1).clients == 0)
  }

  @Test func centersDoNotMix() {
    center.observe(.login, owner: owner) { _, _ in journal.write("heard") }
    #expect(MulticastCenter().post(.login, Login(id: 1)).clients == 0)
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
    await center.post(Topic(), Question(text: "hello") { journal.write($0) }).delivered()
    journal.write("done")
    #expect(journal.read() == "owner: hello! done")
  }

  // MARK: - Topics that come and go

  @Test func aTopicIsNotForgottenForTheObserversOfAnother() {
    for number in 0..<100 { center.observe(Topic<Int>("\(number)"), owner: owner) { _, _ in } }
    for _ in 0..<(16 * 110) { center.post(Topic<Int>("7"), 1) }
    for number in 0..<100 { #expect(center.post(Topic<Int>("\(number)"), 1).clients == 1) }
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
        #expect(center.post(topic, round).clients == 1)
        observation.cancel()
        #expect(center.removeLatest(of: topic) == (keepsLatest ? round : nil))
        center.post(stays, round)
        extendLifetime(owner)
      }
    }
    #expect(counter.calls == 4 * rounds)
  }
}
