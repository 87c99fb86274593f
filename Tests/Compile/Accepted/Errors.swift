import Multicast

// `notify` throws the error that its body throws: none, any, or one type.

enum StoreError: Error {
  case full
  case gone
}

protocol StoreProtocol: Sendable {
  func save() throws
  func load() throws(StoreError) -> Int
  func close()
  func sync() async throws(StoreError)
}

func throwing(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async throws {
  try center.notify(StoreProtocol.self) { try $0.save() }
  try delegates.notify(forEach: [1]) { client, _ in try client.save() }
  let answers = try center.map(StoreProtocol.self) { try $0.load() }
  try await delegates.notify { client in
    try await client.sync()
    if answers.isEmpty { throw StoreError.gone }
  }
}

func silent(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) async {
  center.notify(StoreProtocol.self) { try? $0.save() }
  print(delegates.map { try? $0.load() })
  await delegates.notify { try? await $0.sync() }
  _ = Result { try center.notify(StoreProtocol.self) { try $0.save() } }
}

func typed(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) async throws(StoreError) {
  try delegates.notify { _ throws(StoreError) in throw .gone }
  try center[StoreProtocol.self].notify(forEach: [1]) { (client, _) throws(StoreError) in
    print(try client.load())
  }
  print(try delegates.map { (client) throws(StoreError) in try client.load() })
  try await center.notify(
    StoreProtocol.self, awaiting: { (client) async throws(StoreError) in try await client.sync() })
  try await delegates.notify { (client) async throws(StoreError) in try await client.sync() }
  let loaded = try await center.map(
    StoreProtocol.self, awaiting: { (client) async throws(StoreError) in try client.load() })
  print(loaded.reduce(0, +), await delegates.map(awaiting: { $0.close() }).count)
}

// The compiler knows that these two cases are exhaustive.
func caught(center: MulticastCenter) {
  do {
    try center.notify(StoreProtocol.self) { _ throws(StoreError) in throw .full }
  } catch {
    switch error {
    case .full, .gone: print(error)
    }
  }
}

func generic<Failure: Error>(
  center: MulticastCenter, _ body: (any StoreProtocol) throws(Failure) -> Void
) throws(Failure) {
  try center.notify(StoreProtocol.self, body)
}

func rethrowing(center: MulticastCenter, _ body: (any StoreProtocol) throws -> Void) rethrows {
  try center.notify(StoreProtocol.self) { try body($0) }
}

func nothing(center: MulticastCenter) {
  generic(center: center) { $0.close() }
  rethrowing(center: center) { $0.close() }
}
