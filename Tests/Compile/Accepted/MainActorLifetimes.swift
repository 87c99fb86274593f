import Multicast

// The same for clients of the main actor, whose deinitialiser may run anywhere unless it is
// isolated.

@MainActor protocol ScreenProtocol {
  func draw()
}

@MainActor final class Screen: ScreenProtocol {
  let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: ScreenProtocol.self)
  }

  func draw() {}

  deinit {
    center.add(self, for: ScreenProtocol.self)
    center.remove(self, for: ScreenProtocol.self)
    center.remove(self)
  }
}

@MainActor final class IsolatedScreen: ScreenProtocol {
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

  init() { delegates.add(self) }
  nonisolated init(center: MulticastCenter) { center.add(self, for: ScreenProtocol.self) }

  func draw() {}

  isolated deinit {
    delegates.add(self)
    delegates.remove(self)
    delegates.notify { screen in
      screen.draw()
      count += 1
    }
  }
}
