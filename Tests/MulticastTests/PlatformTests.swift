import Testing

@testable import Multicast

/// What only some runtimes answer, so that the other tests cannot insist on an answer.
@Suite struct CurrentExecutorTests {
  private actor Home {
    func ask() -> Bool? { isCurrent }
  }

  @Test(.enabled(if: Process.knowsCurrentActor))
  func anActorKnowsWhoRunsInside() async {
    let home = Home()
    #expect(await home.ask() == true)
    #expect(home.isCurrent == false)
    await MainActor.run { #expect(home.isCurrent == false) }
  }

  @Test func theMainActorKnowsEverywhere() async {
    #expect(await MainActor.run { MainActor.shared.isCurrent } == true)
    #expect(await Task.detached { MainActor.shared.isCurrent }.value == false)
  }
}

@Suite struct LoadedFunctionTests {
  @Test func functionsOfTheRuntimeAreFound() {
    #expect(LoadedFunction.address(of: "swift_retain") != nil)
  }

  @Test func functionsThatNobodyHasAreNotFound() {
    #expect(LoadedFunction.address(of: "multicast_has_no_such_function") == nil)
  }
}
