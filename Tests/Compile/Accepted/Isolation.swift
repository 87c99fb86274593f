import Multicast

// A body, awaited or not, belongs to the actor that notifies, and its clients may be anything of
// the actor's: none of them leaves it.

nonisolated protocol UserProtocol {
  func login(_ count: Int)
}

nonisolated protocol StoreProtocol: Sendable {
  func save(_ count: Int) async
}

// Its methods run in their caller's actor, so it need not be Sendable to be awaited there.
nonisolated protocol LocalProtocol {
  nonisolated(nonsending) func save(_ count: Int) async throws
}

nonisolated final class Client: UserProtocol, LocalProtocol {
  var sum = 0
  func login(_ count: Int) {}
  nonisolated(nonsending) func save(_ count: Int) async throws { sum += count }
}

actor Session {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any UserProtocol>()
  var client = Client()
  var count = 0

  func notify() {
    center.add(client, for: UserProtocol.self)
    center[UserProtocol.self].add(client)
    delegates.add(client)
    center.notify(UserProtocol.self) { client in
      client.login(count)
      self.increase()
    }
    center.notify(UserProtocol.self, forEach: [1, 2]) { client, event in
      client.login(event)
      count += event
    }
    let clients = delegates.map { _ in client }
    client = clients[0]
    center.remove(client)
  }

  func notifyLater() async throws {
    center.notify(UserProtocol.self) { $0.login(count) }
    delegates.notify { _ in client.sum += 1 }
    var called = 0
    await center.notify(StoreProtocol.self) { client in
      await client.save(count)
      called += 1
      await self.pause()
      increase()
    }
    await delegates.notify { client in
      client.login(count)
      await pause()
    }
    await delegates.notify(awaiting: { [weak self] in $0.login(await self?.count ?? 0) })
    center.add(client, for: LocalProtocol.self)
    try await center.notify(LocalProtocol.self) { client in
      try await client.save(count)
      count += 1
    }
    print(called)
  }

  func notifyInTask() {
    Task {
      center.notify(UserProtocol.self) { client in
        client.login(count)
        increase()
      }
      await center.notify(StoreProtocol.self) { await $0.save(count) }
    }
  }

  func increase() { count += 1 }
  func pause() async {}

  nonisolated func notifyFromOutside() { delegates.notify { $0.login(0) } }
}

@MainActor final class Model {
  let center = MulticastCenter()
  var count = 0

  func notify() async throws {
    center.notify(UserProtocol.self) { _ in count += 1 }
    await center.notify(StoreProtocol.self) { client in
      await client.save(count)
      count += 1
    }
    try await center.notify(LocalProtocol.self) { try await $0.save(count) }
  }
}

// Code without an actor of its own.
nonisolated struct Directory {
  let center: MulticastCenter
  let delegates: MulticastDelegate<any UserProtocol>

  func notify() async throws {
    center.notify(UserProtocol.self) { $0.login(1) }
    var called = 0
    await center.notify(UserProtocol.self) {
      $0.login(1)
      called += 1
      await Task.yield()
    }
    print(called, delegates.map { _ in called })
    try await center.notify(LocalProtocol.self) { try await $0.save(1) }
  }

  nonisolated(nonsending) func notifyHere() async {
    await delegates.notify { _ in await Task.yield() }
  }

  @concurrent func notifyElsewhere() async {
    delegates.notify { $0.login(1) }
    await delegates.notify { _ in await Task.yield() }
  }
}

func inTheActorOfTheCaller(
  center: MulticastCenter, isolation: isolated (any Actor)? = #isolation
) async {
  var called = 0
  center.notify(UserProtocol.self) { _ in called += 1 }
  await center.notify(UserProtocol.self) {
    $0.login(called)
    called += 1
    await Task.yield()
  }
}
