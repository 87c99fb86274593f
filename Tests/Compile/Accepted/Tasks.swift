import Multicast

// Centers and delegates are Sendable, so tasks of every kind may share them.

nonisolated protocol UserProtocol: Sendable {
  func login()
  func name() -> String
  func sync() async
}

nonisolated func tasks(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  Task { center.notify(UserProtocol.self) { $0.login() } }
  Task { delegates.notify { $0.login() } }
  Task { await center.notify(UserProtocol.self) { await $0.sync() } }
  Task.detached { center.notify(UserProtocol.self) { $0.login() } }
  Task.detached { await delegates.notify { await $0.sync() } }
  Task { @MainActor in center.notify(UserProtocol.self) { $0.login() } }
  let sendable: @Sendable () -> Void = { center.notify(UserProtocol.self) { $0.login() } }
  sendable()
}

nonisolated func results(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  let called = Task { center.notify(UserProtocol.self) { $0.login() } }
  let awaited = Task.detached { await center.notify(UserProtocol.self) { await $0.sync() } }
  let names = Task { delegates.map { $0.name() } }
  print(await called.value, await awaited.value, await names.value)
}

nonisolated func childTasks(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  await withTaskGroup(of: Void.self) { group in
    group.addTask { center.notify(UserProtocol.self) { $0.login() } }
    group.addTask { await delegates.notify { await $0.sync() } }
  }
  async let called = center.notify(UserProtocol.self) { $0.login() }
  async let awaited = center.notify(UserProtocol.self) { await $0.sync() }
  print(await called, await awaited)
}

// A client of a Sendable protocol may be handed on to a task.
nonisolated func tasksOfClients(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  center.notify(UserProtocol.self) { client in Task { await client.sync() } }
  delegates.notify { client in Task.detached { client.login() } }
  await delegates.notify { client in
    await withTaskGroup { group in group.addTask { await client.sync() } }
  }
  for client in delegates.clients { Task { delegates.add(client) } }
}

nonisolated func events(_ events: AsyncStream<Int>, center: MulticastCenter) async {
  for await event in events {
    center.notify(UserProtocol.self) { client in if event > 0 { client.login() } }
  }
  await withCheckedContinuation { continuation in
    center.notify(UserProtocol.self) { $0.login() }
    continuation.resume()
  }
}
