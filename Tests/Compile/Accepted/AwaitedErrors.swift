import Multicast

// What is true of errors is true of awaited ones.

enum StoreError: Error {
  case full
}

protocol StoreProtocol: Sendable {
  func save() async throws
  func close() async throws(StoreError)
  func flush() async
}

func untyped(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async throws {
  try await center.notify(StoreProtocol.self, awaiting: { try await $0.save() })
  try await center.notify(StoreProtocol.self) { try await $0.close() }
  try await delegates.notify { try await $0.save() }
  try await delegates.notify { client in
    await client.flush()
    try await client.save()
  }
}

func typed(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async throws(StoreError) {
  try await center.notify(
    StoreProtocol.self,
    awaiting: { (client) async throws(StoreError) in try await client.close() })
  try await center.notify(StoreProtocol.self) { (client) async throws(StoreError) in
    try await client.close()
  }
  try await delegates.notify { (client) async throws(StoreError) in try await client.close() }
}

func silent(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async {
  await center.notify(StoreProtocol.self) { await $0.flush() }
  await delegates.notify { try? await $0.save() }
  do {
    try await typed(center: center, delegates: delegates)
  } catch {
    switch error {
    case .full: print("full")
    }
  }
}
