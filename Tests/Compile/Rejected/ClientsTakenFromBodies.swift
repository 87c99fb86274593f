// only: 6-* 5-complete-* (mode 5 does not look for data races otherwise)
import Multicast

// A body may use its client, and not hand it to a task, if its protocol is not Sendable.

nonisolated protocol UserProtocol {
  func login()
}

nonisolated func notify(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  center.notify(UserProtocol.self) { client in Task { client.login() } }
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  delegates.notify { client in Task.detached { client.login() } }
  for client in center.clients(for: UserProtocol.self) {
    // expected-mode6-error@+2 {{risks causing data races}}
    // expected-complete-warning@+1 {{risks causing data races}}
    Task.detached { client.login() }
  }
}

nonisolated func notifyLater(delegates: MulticastDelegate<any UserProtocol>) async {
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  await delegates.notify(awaiting: { client in Task { client.login() } })
}
