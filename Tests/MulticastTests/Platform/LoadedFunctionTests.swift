import Multicast
import Testing

@Suite struct LoadedFunctionTests {
  @Test func functionsOfTheRuntimeAreFound() {
    #expect(LoadedFunction.address(of: "swift_retain") != nil)
  }

  @Test func functionsThatNobodyHasAreNotFound() {
    #expect(LoadedFunction.address(of: "multicast_has_no_such_function") == nil)
  }
}
