import Multicast

// A body is isolated to the actor that notifies, whether it awaits or not. It may use clients and
// state of that actor, because
// none of them leaves it. A body that awaits selects the `notify` that you await; any other body
// needs no `await`.

nonisolated protocol UserProtocol {
  func login(_ count: Int)
}

nonisolated protocol StoreProtocol: Sendable {
  func count() -> Int
  func save() throws
  func sync(_ count: Int) async
}

// The methods run in their caller's actor, so that a client need not be Sendable to be awaited
// there.
nonisolated protocol LocalProtocol {
  nonisolated(nonsending) func save(_ count: Int) async throws
}

nonisolated final class Client: UserProtocol, LocalProtocol {
  var sum = 0
  func login(_ count: Int) {}
  nonisolated(nonsending) func save(_ count: Int) async throws { sum += count }
}

actor Session: UserProtocol {
  let center: MulticastCenter
  let delegates = MulticastDelegate<any UserProtocol>()
  var client = Client()
  var count = 0

  // A synchronous initializer is nonisolated after it has passed `self` on.
  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: UserProtocol.self)
  }

  deinit {
    center.remove(self)
    center.notify(UserProtocol.self) { $0.login(1) }
  }

  func notify() async throws {
    center.add(client, for: UserProtocol.self)
    delegates.add(client)
    center[UserProtocol.self].notify(forEach: [1, 2]) { client, event in
      client.login(event)
      self.increase()
      count += event
    }
    let clients = delegates.map { _ in client }
    client = clients[0]
    var called = 0
    await center.notify(StoreProtocol.self) { client in
      await client.sync(count)
      called += 1
      await self.pause()
      increase()
    }
    await delegates.notify(awaiting: { [weak self] in $0.login(await self?.count ?? 0) })
    center.add(client, for: LocalProtocol.self)
    try await center.notify(LocalProtocol.self) { client in
      try await client.save(count)
      count += 1
    }
    Task {
      center.notify(UserProtocol.self) { _ in increase() }
      await center.notify(StoreProtocol.self) { await $0.sync(count) }
    }
    print(called)
  }

  func increase() { count += 1 }
  func pause() async {}
  nonisolated func login(_ count: Int) {}
  nonisolated func notifyFromOutside() { delegates.notify { $0.login(0) } }
}

actor IsolatedFile {
  let delegates = MulticastDelegate<any UserProtocol>()
  var count = 0

  isolated deinit { delegates.notify { _ in count += 1 } }
}

nonisolated func awaiting(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>,
  stored: (any StoreProtocol) async -> Void
) async throws {
  try delegates.notify { client in
    try client.save()
    print(client.count())
  }
  var sum = 0
  try await delegates.notify { client in
    await client.sync(sum)
    try client.save()
    sum += client.count()
  }
  print(await center.notify(StoreProtocol.self) { await $0.sync(1) })
  // The label `awaiting:` always selects the `notify` that you await.
  func local(_ client: any StoreProtocol) { print(client.count()) }
  await center.notify(StoreProtocol.self, awaiting: { print($0.count()) })
  center.notify(StoreProtocol.self, local)
  await center.notify(StoreProtocol.self, awaiting: local)
  await center.notify(StoreProtocol.self, awaiting: stored)
  // A closure that does not await takes the method that does not await.
  let counts = center.map(StoreProtocol.self) { $0.count() }
  print(counts, await delegates.map { await $0.sync(1) }.count)
}

// An answer that is not Sendable stays in the caller's actor.
@MainActor func answers(_ center: MulticastCenter, _ sum: Sum) async -> [Sum] {
  await center.map(
    UserProtocol.self,
    awaiting: { client in
      await Task.yield()
      client.login(1)
      sum.total += 1
      return sum
    })
}

final class Sum {
  var total = 0
}

// Centers and delegates are Sendable, so tasks of every kind may share them. A client of a Sendable
// protocol may be passed to
// a task.
nonisolated func tasks(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async {
  Task { @MainActor in center.notify(StoreProtocol.self) { print($0.count()) } }
  let sendable: @Sendable () -> Void = { center.notify(StoreProtocol.self) { print($0.count()) } }
  sendable()
  let called = Task.detached { center.notify(StoreProtocol.self) { print($0.count()) } }
  async let awaited = center.notify(StoreProtocol.self) { await $0.sync(1) }
  print(await called.value, await awaited)
  await delegates.notify { client in
    await withTaskGroup { group in group.addTask { await client.sync(1) } }
  }
  for client in delegates.clients { Task { delegates.add(client) } }
}

// Code that runs in no actor.
nonisolated(nonsending) func notifyHere(delegates: MulticastDelegate<any UserProtocol>) async {
  await delegates.notify { _ in await Task.yield() }
}

@concurrent nonisolated func notifyElsewhere(
  delegates: MulticastDelegate<any UserProtocol>
) async {
  delegates.notify { $0.login(1) }
  await delegates.notify { _ in await Task.yield() }
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
