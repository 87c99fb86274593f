import Multicast
import Testing

@Suite(.enabled(if: !Process.isSanitized && Process.residentBytes != nil))
struct TopicMemoryTests {
  @Test func aMillionOwnersThatObserveAndDie() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      MemoryTests.expectNoGrowth(beyond: 5, rounds: Process.rounds(1_000_000, quick: 50_000)) {
        center.observe(.login, owner: Owner()) { _, _ in }
      }
    }
  }

  @Test func namesAndMessageTypesThatComeAndGo() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      var number = 0
      MemoryTests.expectNoGrowth(beyond: 5, rounds: Process.rounds(200_000, quick: 30_000)) {
        number += 1
        center.observe(Topic<Int>("\(number)"), owner: Owner()) { _, _ in }
      }
    }
  }

  @Test func observationsThatAreCancelledDuringAPost() async {
    await #expect(processExitsWith: .success) {
      let center = MulticastCenter()
      let owner = Owner()
      center.observe(.login, owner: owner) { owner, _ in
        MemoryTests.expectNoGrowth(beyond: 5, rounds: Process.rounds(300_000, quick: 40_000)) {
          center.observe(.login, owner: owner, id: 1) { _, _ in }.cancel()
        }
      }
      center.post(.login, Login(id: 1))
      extendLifetime(owner)
    }
  }
}
