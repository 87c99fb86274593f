// only: 6-* 5-complete-* (mode 5 does not look for data races otherwise)
import Multicast

// A protocol of the main actor is not Sendable unless it says so, and then its clients cannot be
// sent to the main actor, not even with an await.

@MainActor protocol ScreenProtocol {
  func draw()
}

nonisolated func notify(
  center: MulticastCenter, delegates: MulticastDelegate<any ScreenProtocol>
) async {
  // expected-mode6-error@+2 {{sending '$0' risks causing data races}}
  // expected-complete-warning@+1 {{sending '$0' risks causing data races}}
  await center.notify(ScreenProtocol.self) { await $0.draw() }
  // expected-mode6-error@+2 {{sending '$0' risks causing data races}}
  // expected-complete-warning@+1 {{sending '$0' risks causing data races}}
  await delegates.notify(awaiting: { await $0.draw() })
}

actor Session {
  func notify(center: MulticastCenter) async {
    // expected-mode6-error@+2 {{sending '$0' risks causing data races}}
    // expected-complete-warning@+1 {{sending '$0' risks causing data races}}
    await center.notify(ScreenProtocol.self) { await $0.draw() }
  }
}
