// only: 6-* (in mode 5 what is not Sendable is a warning, or nothing at all)
import Multicast

// The body of a post, or a handler, is stored, and is called in the homes of the listeners.

nonisolated protocol UserProtocol {
  func login(_ id: Int)
  func sync() async
}

@MainActor protocol ScreenProtocol {
  func show(_ id: Int)
}

nonisolated final class Mutable {
  var number = 0
}

nonisolated func post(_ center: MulticastCenter, _ mutable: Mutable) {
  var count = 0
  center.post(UserProtocol.self) { _ in count += 1 }  // expected-error {{mutation of captured var}}
  // expected-error@+1 {{capture of 'mutable' with non-Sendable type 'Mutable' in a '@Sendable'}}
  center.post(UserProtocol.self) { $0.login(mutable.number) }
  center.post(ScreenProtocol.self) { $0.show(1) }  // expected-error {{call to main actor-isolated}}
  // `awaiting:` calls the clients in a task, so they must be Sendable.
  // expected-error@+1 {{type 'any UserProtocol' does not conform to the 'Sendable' protocol}}
  center.post(UserProtocol.self, awaiting: { await $0.sync() })
  // expected-error@+1 {{type 'any UserProtocol' does not conform to the 'Sendable' protocol}}
  center.post(UserProtocol.self) { await $0.sync() }
  print(count)
}

@MainActor func postOnMainActor(_ center: MulticastCenter) {
  center.post(ScreenProtocol.self) { $0.show(1) }  // expected-error {{call to main actor-isolated}}
  // The body runs in each home, so it names no actor.
  // expected-error@+1 {{loses global actor 'MainActor'}}
  center.post(ScreenProtocol.self) { @MainActor in $0.show(1) }
}

nonisolated func topics(_ center: MulticastCenter) {
  // expected-error@+1 {{type 'Mutable' does not conform to the 'Sendable' protocol}}
  center.observe(Topic<Int>(), owner: Mutable()) { _, _ in }
  // A post outside the main actor cannot claim to run there.
  // expected-error@+1 {{call to main actor-isolated instance method}}
  center.post(Topic<Int>(), 1, isolation: MainActor.shared)
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
  center.post(Topic<Int>(), "text")
}
