import Multicast

// Code outside the main actor cannot notify a protocol of the main actor, and cannot use the state
// of another actor.

@MainActor protocol ScreenProtocol {
  func draw()
  var title: String { get }
}

nonisolated func synchronous(center: MulticastCenter) {
  center.notify(ScreenProtocol.self) { $0.draw() }  // expected-error {{main actor-isolated}}
  // expected-error@+1 {{call to main actor-isolated instance method 'draw()' in a synchronous}}
  center[ScreenProtocol.self].notify(forEach: [1]) { screen, _ in screen.draw() }
  // expected-error@+1 {{main actor-isolated property 'title' can not be referenced}}
  print(center.map(ScreenProtocol.self) { $0.title })
}

nonisolated func asynchronous(center: MulticastCenter) async {
  center.notify(ScreenProtocol.self) { $0.draw() }  // expected-error {{main actor-isolated}}
  // expected-error@+1 {{expression is 'async' but is not marked with 'await'}}
  center.notify(ScreenProtocol.self) { await $0.draw() }
  // expected-error@+1 {{main actor-isolated instance method 'draw()' cannot be called from}}
  await center.notify(ScreenProtocol.self, awaiting: { $0.draw() })
}

// An actor is outside the main actor, too.
actor Loader {
  func load(_ delegates: MulticastDelegate<any ScreenProtocol>) async {
    delegates.notify { $0.draw() }  // expected-error {{call to main actor-isolated instance}}
    // expected-error@+1 {{main actor-isolated instance method 'draw()' cannot be called from}}
    await delegates.notify(awaiting: { $0.draw() })
  }
}

// A synchronous `notify` does not hop to the actor of its body. In mode 5, this is a warning.
@MainActor func draw(_ screen: any ScreenProtocol) { screen.draw() }

nonisolated func functions(delegates: MulticastDelegate<any ScreenProtocol>) {
  // expected-mode6-error@+1 {{loses global}} expected-mode5-warning@+1 {{loses global}}
  delegates.notify(draw)
}

// A loop is reported on the thread of the loop, so the handler cannot use an actor's state.
actor Session {
  let center = MulticastCenter()
  var count = 0
  // expected-error@+1 {{actor-isolated property 'count' can not be mutated}}
  lazy var reporting = MulticastCenter { _ in self.count += 1 }

  nonisolated func notify() {
    // expected-error@+1 {{actor-isolated property 'count' can not be mutated}}
    center.notify(ScreenProtocol.self) { _ in count += 1 }
  }
}

@MainActor final class Model {
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

  deinit {
    delegates.notify { _ in count += 1 }  // expected-error {{main actor-isolated property 'count'}}
  }
}

nonisolated func variable() {
  var count = 0
  // expected-mode6-error@+1 {{captured var}} expected-mode5-warning@+1 {{captured var}}
  _ = MulticastCenter { _ in count += 1 }
  print(count)
}

// A class that conforms only on the main actor is not a client in other code.
nonisolated protocol UserProtocol {
  func login()
}

@MainActor final class Screen {}

@MainActor extension Screen: @MainActor UserProtocol {
  func login() {}
}

nonisolated func add(_ screen: Screen, to center: MulticastCenter) {
  // expected-mode6-error@+1 {{conformance of}} expected-mode5-warning@+1 {{conformance of}}
  center.add(screen, for: UserProtocol.self)
}
