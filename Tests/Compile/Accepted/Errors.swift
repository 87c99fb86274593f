import Multicast

// A body that throws makes notify throw, and only such a body does.

protocol StoreProtocol {
  func save() throws
  func load() throws -> Int
  func close()
}

struct DiskFull: Error {}

func throwing(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) throws {
  try center.notify(StoreProtocol.self) { try $0.save() }
  try delegates.notify { try $0.save() }
  try center.notify(StoreProtocol.self, forEach: [1]) { client, _ in try client.save() }
  try delegates.notify(forEach: [1]) { client, _ in try client.save() }
  print(try center.map(StoreProtocol.self) { try $0.load() })
  let answers = try delegates.map { try $0.load() }
  try center.notify(StoreProtocol.self) { client in
    if answers.isEmpty { throw DiskFull() }
    try client.save()
  }
}

func silent(center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>) {
  center.notify(StoreProtocol.self) { $0.close() }
  center.notify(StoreProtocol.self) { try? $0.save() }
  delegates.notify { client in
    do { try client.save() } catch { print(error) }
  }
  print(delegates.map { try? $0.load() })
}

func handled(center: MulticastCenter) {
  do {
    try center.notify(StoreProtocol.self) { try $0.save() }
  } catch is DiskFull {
    print("full")
  } catch {
    print(error)
  }
  _ = try? center.notify(StoreProtocol.self) { try $0.save() }
  _ = Result { try center.notify(StoreProtocol.self) { try $0.save() } }
}

func rethrowing(
  center: MulticastCenter, _ body: (any StoreProtocol) throws -> Void
) rethrows {
  try center.notify(StoreProtocol.self, body)
  try center.notify(StoreProtocol.self) { try body($0) }
}

func rethrowsNothing(center: MulticastCenter) {
  rethrowing(center: center) { $0.close() }
}
