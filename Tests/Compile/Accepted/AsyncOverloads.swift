import Multicast

// In an asynchronous context a body that awaits nothing needs no await, and one that does gets the
// notify that awaits.

nonisolated protocol UserProtocol: Sendable {
  func login()
  func count() -> Int
  func save() throws
  func sync() async
  func send() async throws
}

nonisolated func synchronous(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async throws {
  center.notify(UserProtocol.self) { $0.login() }
  center.notify(UserProtocol.self, { $0.login() })
  center.notify(UserProtocol.self) { _ in }
  center.notify(UserProtocol.self) { client in
    client.login()
    client.login()
  }
  center[UserProtocol.self].notify { $0.login() }
  delegates.notify { $0.login() }
  try center.notify(UserProtocol.self) { try $0.save() }
  try delegates.notify { client in
    try client.save()
    client.login()
  }
  center.notify(UserProtocol.self) { client in Task { await client.sync() } }
  let called = center.notify(UserProtocol.self) { $0.login() }
  guard delegates.notify({ $0.login() }) == called else { return }
  print(center.map(UserProtocol.self) { $0.count() })
}

nonisolated func awaiting(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async throws {
  await center.notify(UserProtocol.self) { await $0.sync() }
  await center.notify(UserProtocol.self) { client in
    client.login()
    await client.sync()
  }
  await center[UserProtocol.self].notify { await $0.sync() }
  await delegates.notify { await $0.sync() }
  try await center.notify(UserProtocol.self) { try await $0.send() }
  try await delegates.notify { client in
    try await client.send()
    try client.save()
  }
  let called = await center.notify(UserProtocol.self) { await $0.sync() }
  print(called, await delegates.notify { await $0.sync() })
}

// With the label it is always the notify that awaits.
nonisolated func labelled(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  await center.notify(UserProtocol.self, awaiting: { await $0.sync() })
  await center.notify(UserProtocol.self, awaiting: { $0.login() })
  await delegates.notify(awaiting: { _ in await Task.yield() })
}

nonisolated func functions(
  center: MulticastCenter, stored: (any UserProtocol) async -> Void
) async {
  func local(_ client: any UserProtocol) { client.login() }
  func localLater(_ client: any UserProtocol) async { await client.sync() }
  center.notify(UserProtocol.self, local)
  await center.notify(UserProtocol.self, awaiting: local)
  await center.notify(UserProtocol.self, awaiting: localLater)
  await center.notify(UserProtocol.self, awaiting: stored)
}
