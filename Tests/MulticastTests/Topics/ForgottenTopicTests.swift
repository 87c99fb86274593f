import TestSupport
import Multicast
import Testing

/// A center forgets topics that nobody observes any more, without being asked to.
@Suite struct ForgottenTopicTests {
  let center = MulticastCenter()
  let owner = kept(Owner())

  @Test func postsToOneTopicReclaimOthersWhoseOwnersHaveEnded() {
    let ends = Locked(0)
    // The first topic of a type is kept for good, and the second one is used below.
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    center.observe(Topic<Int>("used"), owner: owner) { _, _ in }
    do {
      let passing = Owner()
      for number in 0..<100 {
        let sentinel = Sentinel { ends.withLock { $0 += 1 } }
        center.observe(Topic<Int>("\(number)"), owner: passing) { _, _ in extendLifetime(sentinel) }
      }
      extendLifetime(passing)
    }
    for number in 0..<(16 * 110) { center.post(Topic<Int>("used"), number) }
    #expect(ends.withLock { $0 } == 100)
  }

  @Test func aTopicIsNotForgottenForTheObserversOfAnother() {
    for number in 0..<100 { center.observe(Topic<Int>("\(number)"), owner: owner) { _, _ in } }
    for _ in 0..<(16 * 110) { center.post(Topic<Int>("7"), 1) }
    for number in 0..<100 { #expect(center.post(Topic<Int>("\(number)"), 1) == 1) }
  }
}
