import Multicast

// To the main actor, another actor is as foreign as no actor.

@MainActor protocol ScreenProtocol {
  func draw()
}

actor Session {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any ScreenProtocol>()

  func synchronous() {
    // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
    center.notify(ScreenProtocol.self) { $0.draw() }
    // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
    delegates.notify { $0.draw() }
  }

  func asynchronous() async {
    // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
    center.notify(ScreenProtocol.self) { $0.draw() }
    // expected-error@+1 {{main actor-isolated instance method 'draw()' cannot be called from}}
    await delegates.notify(awaiting: { $0.draw() })
  }
}
