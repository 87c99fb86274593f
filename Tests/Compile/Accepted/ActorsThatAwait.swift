import Multicast

// An awaited body belongs to the actor that notifies, as a synchronous one does.

nonisolated protocol UserProtocol {
  func login(_ count: Int)
}

nonisolated protocol StoreProtocol: Sendable {
  func save(_ count: Int) async
  func close() async throws
}

actor Session {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any StoreProtocol>()
  var count = 0

  func notify() async throws {
    await center.notify(StoreProtocol.self) { client in
      await client.save(count)
      count += 1
    }
    try await delegates.notify { client in
      try await client.close()
      await self.pause()
      increase()
    }
    await delegates.notify(awaiting: { [weak self] in await $0.save(self?.count ?? 0) })
  }

  // The client is not Sendable; it does not leave the actor.
  func notifyAndPause() async {
    var called = 0
    await center.notify(UserProtocol.self) { client in
      client.login(count)
      called += 1
      await Task.yield()
      await pause()
    }
    print(called)
  }

  func notifyInTask() {
    Task { await center.notify(StoreProtocol.self) { await $0.save(count) } }
  }

  func increase() { count += 1 }
  func pause() async {}
}

@MainActor final class Model {
  let center = MulticastCenter()
  var count = 0

  func notify() async {
    await center.notify(StoreProtocol.self) { client in
      await client.save(count)
      count += 1
    }
  }
}
