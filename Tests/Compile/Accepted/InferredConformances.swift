// only: *-approachable-MainActor (InferIsolatedConformances and a default of MainActor)
import Multicast

// A conformance to a protocol that knows no actor is isolated without a word about it.

nonisolated protocol UserProtocol {
  func login()
}

final class Screen: UserProtocol {
  var count = 0

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
  func login() { count += 1 }
}

func notify(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  let screen = Screen(center: center)
  delegates.add(screen)
  delegates.notify { $0.login() }
}
