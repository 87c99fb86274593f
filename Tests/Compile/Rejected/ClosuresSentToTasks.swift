// only: 6-* 5-complete-* (mode 5 does not look for data races otherwise)
import Multicast

// What a body captures is safe where the body runs, and a task may run elsewhere.

nonisolated protocol UserProtocol {
  func login()
}

nonisolated final class Count {
  var value = 0
}

nonisolated func objects(center: MulticastCenter) {
  let count = Count()
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  Task.detached { center.notify(UserProtocol.self) { _ in count.value += 1 } }
  count.value += 1
}

nonisolated func variables(center: MulticastCenter) {
  var count = 0
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  Task.detached { center.notify(UserProtocol.self) { _ in count += 1 } }
  print(count)
}
