import Multicast

// A body that throws makes notify throw, and the compiler wants to see it.

protocol StoreProtocol {
  func save() throws
  func load() throws -> Int
}

func unmarked(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) throws {
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  center.notify(StoreProtocol.self) { try $0.save() }
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  delegates.notify { try $0.save() }
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  center.notify(StoreProtocol.self, forEach: [1]) { client, _ in try client.save() }
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  print(center.map(StoreProtocol.self) { try $0.load() })
}

func unhandled(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) {
  // expected-error@+1 {{call can throw, but it is not marked with 'try' and the error is not}}
  center.notify(StoreProtocol.self) { try $0.save() }
  // expected-error@+1 {{call can throw, but it is not marked with 'try' and the error is not}}
  print(delegates.map { try $0.load() })
}

func unmarkedInside(center: MulticastCenter) throws {
  // expected-warning@+2 {{no calls to throwing functions occur within 'try' expression}}
  // expected-error@+1 {{call can throw, but it is not marked with 'try' and the error is not}}
  try center.notify(StoreProtocol.self) { $0.save() }
}

func unmarkedLater(center: MulticastCenter) async throws {
  // expected-error@+1 {{call can throw but is not marked with 'try'}}
  await center.notify(
    StoreProtocol.self,
    awaiting: { client in
      await Task.yield()
      try client.save()
    })
}
