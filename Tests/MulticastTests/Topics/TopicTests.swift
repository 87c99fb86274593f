import TestSupport
import Multicast
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

  @Test func namesThatComeAndGoLeaveTheOthersAlone() {
    center.observe(Topic<Int>("lasting"), owner: owner) { _, _ in journal.write("lasting") }
    for number in 0..<500 {
      let passing = Owner()
      center.observe(Topic<Int>("\(number)"), owner: passing) { _, _ in journal.write("passing") }
      #expect(center.post(Topic<Int>("\(number)"), 1) == 1)
      extendLifetime(passing)
    }
    _ = journal.read()
    #expect(center.post(Topic<Int>("499"), 1) == 0)
    #expect(center.post(Topic<Int>("lasting"), 1) == 1)
    #expect(journal.read() == "lasting")
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
}
