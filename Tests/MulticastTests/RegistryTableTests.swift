import Dispatch
import TestSupport
import Testing

@testable import Multicast

@Suite struct RegistryTableTests {
  private final class Registry: ClientRegistry {
    func removeClient(_ client: AnyObject) -> Int { 0 }
    func removeAll() {}
    var lists: [ClientList] { [] }
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
        // It may look for the registry in vain meanwhile. If it does not, this test sees less, and fails no sooner.
        for _ in 0..<1000 { Process.letOthersRun() }
        return Registry()
      }
      isDone.wait()
      #expect(table.all.count == 1)
    }
  }

  /// The thread sanitizer sees it. The threads meet before each center is used, and when it has been.
  @Test func whoFindsARegistryFindsAllOfIt() {
    let (owner, done) = (kept(Owner()), DispatchSemaphore(value: 0))
    let arrivals = Atomic<Int>(0)
    let current = Locked<MulticastCenter>(MulticastCenter())
    let rounds = Process.rounds(20_000, quick: 5_000)
    @Sendable func meet(_ number: Int) {
      arrivals.wrappingAdd(1, ordering: .acquiringAndReleasing)
      while arrivals.load(ordering: .acquiring) < 2 * number { Process.letOthersRun() }
    }
    for thread in 0..<2 {
      DispatchQueue(label: "thread").async {
        for round in 0..<rounds {
          if thread == 0 { current.withLock { $0 = MulticastCenter() } }
          meet(2 * round + 1)
          let center = current.withLock { $0 }
          meet(2 * round + 2)
          if thread == 0 { center.observe(.login, owner: owner) { _, _ in } }
          for _ in 0..<4 { _ = center.latest(of: .login) }
        }
        done.signal()
      }
    }
    for _ in 0..<2 { done.wait() }
  }
}
