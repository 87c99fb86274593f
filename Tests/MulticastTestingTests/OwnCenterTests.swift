import Multicast
import MulticastTesting
import TestSupport
import Testing

@Suite(.ownCenter) struct OwnCenterTests {
  private static let seen = Collected<MulticastCenter>()

  @Test(arguments: 1...5)
  func eachTestAndEachOfItsCasesHasAnother(_ number: Int) {
    let center = MulticastCenter.current
    #expect(center !== MulticastCenter.default)
    #expect(!Self.seen.all.contains { $0 === center })
    Self.seen.add(center)
  }

  @Test func tasksOfTheTestShareIt() async {
    let center = MulticastCenter.current
    async let child = MulticastCenter.current
    let task = Task { MulticastCenter.current }
    let detached = Task.detached { MulticastCenter.current }
    #expect(await child === center)
    #expect(await task.value === center)
    #expect(await detached.value === MulticastCenter.default)
  }

  @Test func itsSuiteHasItToo() {
    #expect(center === MulticastCenter.current)
  }

  let center = MulticastCenter.current
}

@Suite struct SharedCenterTests {
  @Test func withoutTheTraitTheDefaultIsCurrent() {
    #expect(MulticastCenter.current === MulticastCenter.default)
  }

  @Test(.ownCenter) func oneTestMayHaveIt() {
    #expect(MulticastCenter.current !== MulticastCenter.default)
  }
}
