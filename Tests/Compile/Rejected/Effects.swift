import Multicast

// If its body throws, `notify` throws the same error. If its body awaits, `notify` must be awaited.
// The compiler requires `try` and
// `await` exactly then.

enum StoreError: Error {
  case full
}

struct NetworkError: Error {}

protocol StoreProtocol: Sendable {
  func open()
  func save() throws
  func load() throws(StoreError) -> Int
  func sync() async
}

func unmarked(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) throws {
  center.notify(StoreProtocol.self) { try $0.save() }  // expected-error {{not marked with 'try'}}
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  center[StoreProtocol.self].notify(forEach: [1]) { client, _ in try client.save() }
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  print(center.map(StoreProtocol.self) { try $0.load() })
  // expected-warning@+2 {{no calls to throwing functions occur within 'try' expression}}
  // expected-error@+1 {{call can throw, but it is not marked with 'try' and the error is not}}
  try center.notify(StoreProtocol.self) { $0.save() }
}

func unhandled(center: MulticastCenter) {
  center.notify(StoreProtocol.self) { try $0.save() }  // expected-error {{call can throw, but it}}
}

func other(center: MulticastCenter) throws(NetworkError) {
  // expected-error@+1 {{'StoreError' cannot be converted to error type 'NetworkError'}}
  try center.notify(StoreProtocol.self) { (_) throws(StoreError) in throw StoreError.full }
}

// The compiler infers `any Error` for a closure that does not name its error.
func unnamed(center: MulticastCenter) throws(StoreError) {
  // expected-error@+1 {{'any Error' cannot be converted to error type 'StoreError'}}
  print(try center.map(StoreProtocol.self) { try $0.load() })
}

func superfluous(center: MulticastCenter) async throws {
  try center.notify(StoreProtocol.self) { $0.open() }  // expected-warning {{no calls to throwing}}
  await center.notify(StoreProtocol.self) { $0.open() }  // expected-warning {{no 'async'}}
}

// Only an asynchronous context can await.
func synchronous(center: MulticastCenter) {
  // expected-error@+1 {{'async' call in a function that does not support concurrency}}
  center.notify(StoreProtocol.self) { await $0.sync() }
}

func asynchronous(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async throws {
  center.notify(StoreProtocol.self) { $0.sync() }  // expected-error {{'async' call in a function}}
  center.notify(StoreProtocol.self) { await $0.sync() }  // expected-error {{expression is 'async'}}
  center.notify(StoreProtocol.self, awaiting: { _ in })  // expected-error {{expression is 'async'}}
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  await delegates.notify(awaiting: { client in try client.save() })
}

// A thread that tasks need must not be blocked.
func blocked(center: MulticastCenter) async {
  // expected-mode6-error@+2 {{unavailable from asynchronous contexts; Await settled(within:) instead.}}
  // expected-mode5-warning@+1 {{unavailable from asynchronous contexts; Await settled(within:) instead.}}
  center.waitUntilSettled(within: 1)
}

// Batches are synchronous only.
func others(center: MulticastCenter) async {
  // expected-error@+1 {{to parameter expecting synchronous function type}}
  await center[StoreProtocol.self].notify(forEach: [1]) { client, _ in await client.sync() }
}

func answers(center: MulticastCenter) async throws(StoreError) {
  // expected-error@+1 {{expression is 'async'}}
  print(center.map(StoreProtocol.self, awaiting: { $0.open() }).count)
  // expected-error@+1 {{'any Error' cannot be converted to error type 'StoreError'}}
  print(try await center.map(StoreProtocol.self, awaiting: { try $0.load() }))
}
