import TestSupport
import Multicast
import Testing

/// A post goes through the list as it was when the post began, even where so many observers come and go
/// meanwhile that the topic has gone over to another list. What is done to an observer then has to be
/// seen in the old one.
@Suite struct ReplacedListTests {
  let center = MulticastCenter()
  let journal = Journal()
  let owner = kept(Owner())
  let other = kept(Owner())

  /// Posts to two observers. In the first one's turn, it replaces the list, and then does `change`.
  func post(changing change: @escaping @Sendable () -> Void) -> Int {
    let (center, journal) = (center, journal)
    center.observe(.login, owner: owner) { _, _ in
      for _ in 0..<1000 { center.observe(.login, owner: Owner()) { _, _ in journal.write("late") } }
      change()
    }
    center.observe(.login, owner: other, id: 1) { _, _ in journal.write("old") }
    return center.post(.login, Login(id: 1))
  }

  @Test func aHandlerThatReplacesAnotherOneIsObeyedAtOnce() {
    let (center, journal, other) = (center, journal, other)
    let called = post {
      center.observe(.login, owner: other, id: 1) { _, _ in journal.write("new") }
    }
    #expect(called == 2)
    #expect(journal.read() == "new")
  }

  @Test func anOwnerThatIsRemovedIsNotCalled() {
    let (center, other) = (center, other)
    let called = post { center.removeObservers(of: .login, owner: other) }
    #expect(called == 1)
    #expect(journal.read() == "")
  }

  @Test func anObservationThatIsCancelledIsNotCalled() {
    let (center, journal, other) = (center, journal, other)
    let called = post {
      center.observe(.login, owner: other, id: 1) { _, _ in journal.write("new") }.cancel()
    }
    #expect(called == 1)
    #expect(journal.read() == "")
  }

  @Test func whatWasReplacedEndsWithThePost() {
    let (center, journal, other) = (center, journal, other)
    let called = post {
      let sentinel = Sentinel(journal)
      center.observe(.login, owner: other, id: 1) { _, _ in extendLifetime(sentinel) }
      center.removeObservers(of: .login, owner: other)
    }
    #expect(called == 1)
    #expect(journal.read() == "end")
  }
}
