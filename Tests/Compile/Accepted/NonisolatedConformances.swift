import Multicast

// A class of the main actor as a client of a protocol that knows no actor, with methods that find
// their way back.

nonisolated protocol UserProtocol {
  func login()
}

@MainActor final class Screen: UserProtocol {
  var count = 0

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  nonisolated func login() {
    Task { @MainActor in self.count += 1 }
  }
}

nonisolated func notify(center: MulticastCenter, screen: Screen) {
  center.add(screen, for: UserProtocol.self)
  center.notify(UserProtocol.self) { $0.login() }
}
