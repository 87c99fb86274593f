import Multicast

// A conformance that holds on the main actor makes no client elsewhere. Mode 5 lets it pass with a
// warning.

nonisolated protocol UserProtocol {
  func login()
}

@MainActor final class Screen {
  var count = 0
}

@MainActor extension Screen: @MainActor UserProtocol {
  @MainActor func login() { count += 1 }
}

nonisolated func add(
  _ screen: Screen, to center: MulticastCenter, _ delegates: MulticastDelegate<any UserProtocol>
) {
  // expected-mode6-error@+2 {{main actor-isolated conformance of 'Screen' to 'UserProtocol'}}
  // expected-mode5-warning@+1 {{main actor-isolated conformance of 'Screen' to 'UserProtocol'}}
  center.add(screen, for: UserProtocol.self)
  // expected-mode6-error@+2 {{main actor-isolated conformance of 'Screen' to 'UserProtocol'}}
  // expected-mode5-warning@+1 {{main actor-isolated conformance of 'Screen' to 'UserProtocol'}}
  delegates.add(screen)
}

actor Session {
  func add(_ screen: Screen, to center: MulticastCenter) {
    // expected-mode6-error@+2 {{main actor-isolated conformance of 'Screen' to 'UserProtocol'}}
    // expected-mode5-warning@+1 {{main actor-isolated conformance of 'Screen' to 'UserProtocol'}}
    center.add(screen, for: UserProtocol.self)
  }
}
