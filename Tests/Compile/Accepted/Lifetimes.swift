import Multicast

// A client joins in its initialiser, and may do anything in its deinitialiser.

nonisolated protocol UserProtocol {
  func login()
}

// An actor's synchronous initialiser is nonisolated once it has let `self` go.
actor File: UserProtocol {
  let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: UserProtocol.self)
  }

  nonisolated func login() {}

  deinit {
    center.remove(self)
    center.notify(UserProtocol.self) { $0.login() }
  }
}

actor IsolatedFile {
  let delegates = MulticastDelegate<any UserProtocol>()
  var count = 0

  isolated deinit { delegates.notify { _ in count += 1 } }
}

// The main actor's deinitialisers may run anywhere unless they are isolated.
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
    center.remove(self)
  }
}

@MainActor final class IsolatedScreen: ScreenProtocol {
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

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
