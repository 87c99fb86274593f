import Multicast
import Synchronization
import TestSupport
import Testing

/// Topics that come and go while others live.
@Suite struct TopicLifeTests {
  let center = MulticastCenter()

  @Test(arguments: [false, true])
  func noObserverIsLostWhileTopicsComeAndGo(keepsLatest: Bool) {
    let rounds = Process.rounds(2000, quick: 300)
    let lost = Atomic<Int>(0)
    let staying = kept(Owner())
    let posts = Atomic<Int>(0)
    let stays = Topic<Int>("stays", keepsLatest: keepsLatest)
    center.observe(stays, owner: staying) { _, _ in posts.add(1, ordering: .relaxed) }
    onThreads(4) { thread in
      for round in 0..<rounds {
        let topic = Topic<Int>("\(thread) \(round)", keepsLatest: keepsLatest)
        let owner = Owner()
        let observation = center.observe(topic, owner: owner) { _, _ in }
        if center.post(topic, round) != 1 { lost.add(1, ordering: .relaxed) }
        observation.cancel()
        center.removeLatest(of: topic)
        center.post(stays, round)
        extendLifetime(owner)
      }
    }
    #expect(lost.load(ordering: .relaxed) == 0)
    #expect(posts.load(ordering: .relaxed) == 4 * rounds)
  }
}
