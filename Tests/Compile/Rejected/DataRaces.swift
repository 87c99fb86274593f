// only: 6-* 5-complete-* (mode 5 does not look for data races otherwise)
import Multicast

// A client of a protocol that is not Sendable stays in the isolation of the code that stores it.

nonisolated protocol UserProtocol {
  func login()
}

nonisolated final class Client: UserProtocol {
  func login() {}
}

@MainActor func addFromTask(_ client: Client, to center: MulticastCenter) {
  // expected-mode6-error@+1 {{data races}} expected-complete-warning@+1 {{data races}}
  Task.detached { center.add(client, for: UserProtocol.self) }
}

// A body may use its client, but must not pass it to a task.
nonisolated func notify(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  // expected-mode6-error@+1 {{data races}} expected-complete-warning@+1 {{data races}}
  delegates.notify { client in Task.detached { client.login() } }
  for client in center[UserProtocol.self].clients {
    // expected-mode6-error@+1 {{data races}} expected-complete-warning@+1 {{data races}}
    Task.detached { client.login() }
  }
}

nonisolated func notifyLater(delegates: MulticastDelegate<any UserProtocol>) async {
  // expected-mode6-error@+1 {{data races}} expected-complete-warning@+1 {{data races}}
  await delegates.notify(awaiting: { client in Task { client.login() } })
}

// An `await` does not help, because an asynchronous method that does not run in its caller's actor
// takes the client out of that
// actor. So does a method of the main actor.
nonisolated protocol StoreProtocol {
  @concurrent func save() async
}

@MainActor protocol ScreenProtocol {
  func draw()
}

actor Store {
  func notify(center: MulticastCenter) async {
    // expected-mode6-error@+1 {{data races}} expected-complete-warning@+1 {{data races}}
    await center.notify(StoreProtocol.self) { await $0.save() }
  }
}

nonisolated func drawAnywhere(screens: MulticastDelegate<any ScreenProtocol>) async {
  // expected-mode6-error@+1 {{data races}} expected-complete-warning@+1 {{data races}}
  await screens.notify(awaiting: { await $0.draw() })
}

// The caller must not use an object after a body has taken it to the main actor.
nonisolated func postOnMain(_ client: Client, center: MulticastCenter) {
  center.postOnMain(ScreenProtocol.self) { screen in
    screen.draw()
    // expected-mode6-error@+2 {{data races}} expected-complete-warning@+2 {{data races}}
    // expected-complete-warning@+1 {{capture of 'client' with non-Sendable type 'Client'}}
    client.login()
  }
  client.login()
}
