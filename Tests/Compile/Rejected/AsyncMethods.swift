import Multicast

// An asynchronous method is awaited, and only an asynchronous context can await.

protocol StoreProtocol: Sendable {
  func save() async
  func load() async -> Int
}

func synchronous(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) {
  // expected-error@+1 {{'async' call in a function that does not support concurrency}}
  center.notify(StoreProtocol.self) { $0.save() }
  // expected-error@+1 {{'async' call in a function that does not support concurrency}}
  center.notify(StoreProtocol.self) { await $0.save() }
  // expected-error@+1 {{'async' call in a function that does not support concurrency}}
  delegates.notify { await $0.save() }
}

func asynchronous(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async {
  // expected-error@+1 {{'async' call in a function that does not support concurrency}}
  center.notify(StoreProtocol.self) { $0.save() }
  // expected-error@+1 {{expression is 'async' but is not marked with 'await'}}
  center.notify(StoreProtocol.self) { await $0.save() }
  // expected-error@+1 {{expression is 'async' but is not marked with 'await'}}
  delegates.notify { await $0.save() }
  // expected-error@+1 {{expression is 'async' but is not marked with 'await'}}
  center.notify(StoreProtocol.self, awaiting: { _ in })
}

// Batches and answers are synchronous only.
func others(center: MulticastCenter) async {
  // expected-error@+1 {{to parameter expecting synchronous function type}}
  await center.notify(StoreProtocol.self, forEach: [1]) { client, _ in await client.save() }
  // expected-error@+1 {{to parameter expecting synchronous function type}}
  print(await center.map(StoreProtocol.self) { await $0.load() })
}
