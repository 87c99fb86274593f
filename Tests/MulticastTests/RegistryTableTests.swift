import Dispatch
import Testing

@testable import Multicast

@Suite struct RegistryTableTests {
  private final class Registry: ClientRegistry {
    func removeClient(_ client: AnyObject) -> Int { 0 }
    func removeAll() {}
  }

  @Test func whoComesWhileARegistryIsMadeGetsThatOne() {
    let key = ObjectIdentifier(Registry.self)
    for _ in 0..<20 {
      let table = RegistryTable()
      let (isComing, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      _ = table.find(key) {
        DispatchQueue(label: "other").async {
          isComing.signal()
          _ = table.find(key) { Registry() }
          isDone.signal()
        }
        isComing.wait()
        // Time to look for the registry in vain. Without it, this test sees less, and fails no sooner.
        _ = isDone.wait(timeout: .now() + .milliseconds(5))
        return Registry()
      }
      isDone.wait()
      #expect(table.all.count == 1)
    }
  }
}
