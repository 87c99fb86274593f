// only: 6-* 5-complete-* (mode 5 does not look for data races otherwise)
import Multicast

// A client of a protocol that is not Sendable stays with the code that has it.

nonisolated protocol UserProtocol {
  func login()
}

nonisolated final class Client: UserProtocol {
  var count = 0
  func login() { count += 1 }
}

nonisolated func addFromTask(center: MulticastCenter) {
  let client = Client()
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  Task.detached { center.add(client, for: UserProtocol.self) }
  client.login()
}

@MainActor func addTheMainActors(_ client: Client, to center: MulticastCenter) {
  // expected-mode6-error@+2 {{risks causing data races}}
  // expected-complete-warning@+1 {{risks causing data races}}
  Task.detached { center.add(client, for: UserProtocol.self) }
}

actor Session {
  func add(_ client: Client, to center: MulticastCenter) {
    center.add(client, for: UserProtocol.self)
  }
}

nonisolated func addInActor(_ session: Session, center: MulticastCenter) async {
  let client = Client()
  // expected-mode6-error@+2 {{sending 'client' risks causing data races}}
  // expected-complete-warning@+1 {{sending 'client' risks causing data races}}
  await session.add(client, to: center)
  client.login()
}
