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

private final class Leaking: Sendable {
  init(_ center: MulticastCenter) {
    center.observe(Topic<Int>(), owner: self) { _, _ in extendLifetime(self) }
  }
}

@Suite struct LeakCheckTests {
  /// Runs a test with a center of its own, and returns the issues that it recorded.
  private func issues(of body: @escaping @Sendable () -> Void) async throws -> [Issue] {
    let test = try #require(Test.current)
    let issues = Collected<Issue>()
    let collecting = IssueHandlingTrait.filterIssues { issue in
      issues.add(issue)
      return false
    }
    let ownCenter: OwnCenter = .ownCenter
    try await collecting.provideScope(for: test, testCase: .current) {
      try await ownCenter.provideScope(for: test, testCase: .current) { body() }
    }
    return issues.all
  }

  @Test func aTestWithItsOwnCenterFailsForAnOwnerThatItsHandlerKeeps() async throws {
    let issues = try await issues { _ = Leaking(.current) }
    #expect(issues.count == 1)
    #expect(issues[0].comments[0].rawValue.hasPrefix("Leaking was kept alive by its own handler"))
    #expect(issues[0].sourceLocation == Test.current?.sourceLocation)
  }

  @Test func anOwnerThatIsHeldIsNone() async throws {
    let held = Collected<Leaking>()
    #expect(try await issues { held.add(Leaking(.current)) }.isEmpty)
    #expect(held.all.count == 1)
  }
}
