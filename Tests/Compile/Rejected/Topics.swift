// only: 6-* (in mode 5 an owner that is not Sendable is a warning, or nothing at all)
import Multicast

// What a handler may be called with from any thread, the compiler checks.

nonisolated final class Mutable {
  var number = 0
}

nonisolated final class Owner: Sendable {
  nonisolated func observe(_ center: MulticastCenter) {
    // expected-error@+1 {{type 'Mutable' does not conform to the 'Sendable' protocol}}
    center.observe(Topic<Int>(), owner: Mutable()) { _, _ in }
    // What runs elsewhere cannot claim to run on the main actor.
    // expected-error@+1 {{call to main actor-isolated instance method}}
    center.post(Topic<Int>(), 1, isolation: MainActor.shared)
    // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
    center.post(Topic<Int>(), "text")
  }
}
