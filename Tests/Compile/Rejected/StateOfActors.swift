import Multicast

// A body outside of an actor cannot touch what is the actor's.

nonisolated protocol UserProtocol {
  func login()
}

actor Session {
  let center = MulticastCenter()
  var count = 0

  nonisolated func notify() {
    // expected-error@+1 {{actor-isolated property 'count' can not be mutated}}
    center.notify(UserProtocol.self) { _ in count += 1 }
  }

  func notifyInTask() {
    Task.detached { [center] in
      // expected-error@+1 {{actor-isolated property 'count' can not be mutated}}
      center.notify(UserProtocol.self) { _ in self.count += 1 }
    }
  }
}

@MainActor final class Model {
  let delegates = MulticastDelegate<any UserProtocol>()
  var count = 0

  nonisolated func notify() {
    // expected-error@+1 {{main actor-isolated property 'count' can not be mutated}}
    delegates.notify { _ in count += 1 }
  }

  deinit {
    // expected-error@+1 {{main actor-isolated property 'count' can not be mutated}}
    delegates.notify { _ in count += 1 }
  }
}
