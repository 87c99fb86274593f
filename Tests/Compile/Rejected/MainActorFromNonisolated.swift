import Multicast

// A protocol of the main actor cannot be notified where the compiler does not know the main actor.

@MainActor protocol ScreenProtocol {
  func draw()
  var title: String { get }
}

nonisolated func synchronous(
  center: MulticastCenter, delegates: MulticastDelegate<any ScreenProtocol>
) {
  // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
  center.notify(ScreenProtocol.self) { $0.draw() }
  center.notify(ScreenProtocol.self) { screen in
    // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
    screen.draw()
  }
  // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
  center.notify(ScreenProtocol.self, forEach: [1]) { screen, _ in screen.draw() }
  // expected-error@+1 {{main actor-isolated property 'title' can not be referenced}}
  print(center.map(ScreenProtocol.self) { $0.title })
  // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
  delegates.notify { $0.draw() }
}

nonisolated func asynchronous(center: MulticastCenter) async {
  // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
  center.notify(ScreenProtocol.self) { $0.draw() }
  // expected-error@+1 {{expression is 'async' but is not marked with 'await'}}
  center.notify(ScreenProtocol.self) { await $0.draw() }
  // expected-error@+1 {{main actor-isolated instance method 'draw()' cannot be called from}}
  await center.notify(ScreenProtocol.self, awaiting: { $0.draw() })
}

nonisolated func task(center: MulticastCenter) {
  Task.detached {
    // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
    center.notify(ScreenProtocol.self) { $0.draw() }
  }
}
