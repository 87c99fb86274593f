import Multicast

// A loop is reported on the thread that is in it, so a handler cannot touch an actor's state.

@MainActor final class Model {
  var count = 0
  // expected-error@+1 {{main actor-isolated property 'count' can not be mutated}}
  lazy var center = MulticastCenter { _ in self.count += 1 }
}

actor Session {
  var count = 0
  // expected-error@+1 {{actor-isolated property 'count' can not be mutated}}
  lazy var center = MulticastCenter { _ in self.count += 1 }
}

nonisolated func variable() {
  var count = 0
  // expected-mode6-error@+2 {{mutation of captured var 'count' in concurrently-executing code}}
  // expected-mode5-warning@+1 {{mutation of captured var 'count' in concurrently-executing code}}
  _ = MulticastCenter { _ in count += 1 }
  print(count)
}
