import Multicast

// Asynchronous methods that run in their caller's actor may be awaited there without the protocol
// being Sendable: the client does not leave the actor.

nonisolated protocol StoreProtocol {
  nonisolated(nonsending) func save(_ number: Int) async throws
}

nonisolated final class Memory: StoreProtocol {
  var sum = 0
  nonisolated(nonsending) func save(_ number: Int) async throws { sum += number }
}

actor Session {
  let memory = Memory()
  var count = 0

  func save(center: MulticastCenter) async throws {
    center.add(memory, for: StoreProtocol.self)
    try await center.notify(StoreProtocol.self) { client in
      try await client.save(count)
      count += 1
    }
  }
}

@MainActor func save(center: MulticastCenter) async throws {
  try await center.notify(StoreProtocol.self) { try await $0.save(1) }
}

nonisolated func saveAnywhere(center: MulticastCenter) async throws {
  try await center.notify(StoreProtocol.self) { try await $0.save(1) }
}
