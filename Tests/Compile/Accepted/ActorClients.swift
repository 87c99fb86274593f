import Multicast

// Actors as clients: through methods that are nonisolated, or awaited.

nonisolated protocol LogProtocol {
  func log(_ line: String)
}

nonisolated protocol StoreProtocol: Sendable {
  func store(_ line: String) async
  func close() async throws
}

nonisolated protocol Writer: Actor {
  func write(_ line: String)
}

actor File: LogProtocol, StoreProtocol, Writer {
  var lines: [String] = []

  init(center: MulticastCenter) {
    center.add(self, for: LogProtocol.self)
    center.add(self, for: StoreProtocol.self)
    center.add(self, for: Writer.self)
  }

  nonisolated func log(_ line: String) { Task { await write(line) } }
  func store(_ line: String) async { write(line) }
  func close() async throws { lines.removeAll() }
  func write(_ line: String) { lines.append(line) }

  func join(_ center: MulticastCenter) {
    center.add(self, for: LogProtocol.self)
    center.add(self, for: StoreProtocol.self)
    center.remove(self)
  }
}

nonisolated func notify(center: MulticastCenter) async throws {
  center.notify(LogProtocol.self) { $0.log("a") }
  await center.notify(StoreProtocol.self) { await $0.store("a") }
  try await center.notify(StoreProtocol.self) { try await $0.close() }
  await center.notify(Writer.self) { await $0.write("a") }
  await center.notify(File.self) { file in
    await file.write("a")
    file.log("b")
  }
}

nonisolated func add(_ file: File, to center: MulticastCenter) {
  center.add(file, for: LogProtocol.self)
  center.add(file, for: StoreProtocol.self)
  center.add(file, for: Writer.self)
  center.add(file, for: File.self)
  center.add(file, for: (any Actor).self)
  center.notify(LogProtocol.self) { $0.log("a") }
}

actor Editor {
  let writers = MulticastDelegate<any Writer>()
  var count = 0

  func edit() async {
    await writers.notify { writer in
      await writer.write("\(count)")
      count += 1
    }
  }
}
