// only: 6-* (in mode 5 what is not Sendable is a warning, or nothing at all)
import Multicast

// A post's body is kept, and called wherever clients live.

nonisolated protocol UserProtocol {
  func login(_ id: Int)
}

@MainActor protocol ScreenProtocol {
  func show(_ id: Int)
}

nonisolated final class Mutable {
  var number = 0
}

nonisolated func post(_ center: MulticastCenter, _ mutable: Mutable) {
  var count = 0
  // expected-error@+1 {{mutation of captured var 'count' in concurrently-executing code}}
  center.post(UserProtocol.self) { _ in count += 1 }
  // expected-error@+1 {{capture of 'mutable' with non-Sendable type 'Mutable' in a '@Sendable' closure}}
  center.post(UserProtocol.self) { $0.login(mutable.number) }
  // expected-error@+1 {{call to main actor-isolated instance method 'show' in a synchronous}}
  center.post(ScreenProtocol.self) { $0.show(1) }
  print(count)
}

@MainActor func postOnMainActor(_ center: MulticastCenter) {
  // expected-error@+1 {{call to main actor-isolated instance method 'show' in a synchronous}}
  center.post(ScreenProtocol.self) { $0.show(1) }
}
