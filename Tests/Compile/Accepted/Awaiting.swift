import Multicast

// In an asynchronous context a body that awaits nothing needs no await, and one that does gets the
// notify that awaits.

nonisolated protocol UserProtocol: Sendable {
  func login()
  func count() -> Int
  func save() throws
  func sync() async
}

nonisolated func synchronous(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async throws {
  center.notify(UserProtocol.self, { $0.login() })
  center.notify(UserProtocol.self) { _ in }
  try delegates.notify { client in
    try client.save()
    client.login()
  }
  let called = center.notify(UserProtocol.self) { $0.login() }
  guard delegates.notify({ $0.login() }) == called else { return }
  print(center.map(UserProtocol.self) { $0.count() })
}

nonisolated func awaiting(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async throws {
  await center[UserProtocol.self].notify { client in
    client.login()
    await client.sync()
  }
  try await delegates.notify { client in
    await client.sync()
    try client.save()
  }
  let called = await center.notify(UserProtocol.self) { await $0.sync() }
  print(called, await delegates.notify { await $0.sync() })
}

// With the label it is always the notify that awaits.
nonisolated func labelled(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>,
  stored: (any UserProtocol) async -> Void
) async {
  func local(_ client: any UserProtocol) { client.login() }
  await center.notify(UserProtocol.self, awaiting: { $0.login() })
  await delegates.notify(awaiting: { _ in await Task.yield() })
  center.notify(UserProtocol.self, local)
  await center.notify(UserProtocol.self, awaiting: local)
  await center.notify(UserProtocol.self, awaiting: stored)
}

// Centers and delegates are Sendable, so tasks of every kind may share them.
nonisolated func tasks(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  Task { await delegates.notify { await $0.sync() } }
  Task { @MainActor in center.notify(UserProtocol.self) { $0.login() } }
  let sendable: @Sendable () -> Void = { center.notify(UserProtocol.self) { $0.login() } }
  sendable()
  let called = Task.detached { center.notify(UserProtocol.self) { $0.login() } }
  await withTaskGroup(of: Void.self) { group in
    group.addTask { center.notify(UserProtocol.self) { $0.login() } }
    group.addTask { await delegates.notify { await $0.sync() } }
  }
  async let child = center.notify(UserProtocol.self) { $0.login() }
  async let awaited = center.notify(UserProtocol.self) { await $0.sync() }
  print(await called.value, await child, await awaited)
}

// A client of a Sendable protocol may be handed on to a task.
nonisolated func tasksOfClients(delegates: MulticastDelegate<any UserProtocol>) async {
  delegates.notify { client in Task { await client.sync() } }
  await delegates.notify { client in
    await withTaskGroup { group in group.addTask { await client.sync() } }
  }
  for client in delegates.clients { Task { delegates.add(client) } }
}
