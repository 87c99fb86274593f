// only: 6-nonisolated 6-MainActor 5-complete-* (elsewhere the methods run in their caller's actor)
import Multicast

// An asynchronous method that runs in no actor takes its client out of the caller's actor, which a
// protocol that is not Sendable does not allow.

nonisolated protocol StoreProtocol {
  func save() async
}

actor Session {
  func save(center: MulticastCenter) async {
    // expected-mode6-error@+2 {{sending '$0' risks causing data races}}
    // expected-complete-warning@+1 {{sending '$0' risks causing data races}}
    await center.notify(StoreProtocol.self) { await $0.save() }
  }
}

@MainActor func save(center: MulticastCenter) async {
  // expected-mode6-error@+2 {{sending '$0' risks causing data races}}
  // expected-complete-warning@+1 {{sending '$0' risks causing data races}}
  await center.notify(StoreProtocol.self) { await $0.save() }
}

nonisolated func saveAnywhere(delegates: MulticastDelegate<any StoreProtocol>) async {
  // expected-mode6-error@+2 {{sending '$0' risks causing data races}}
  // expected-complete-warning@+1 {{sending '$0' risks causing data races}}
  await delegates.notify { await $0.save() }
}
