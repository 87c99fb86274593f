import MulticastCarrier

/// The engine of a chat of one process: nobody else is there to read, and nobody has said anything before.
struct Alone: Carrier, Registry {
  let recordLimit = 1 << 20
  private let place = Position(epoch: 1, number: 0)

  func append(_ record: [UInt8], to log: Log, id: String) async throws -> Position { place }

  func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    try await Task.sleep(for: .seconds(5))
    return []
  }

  func end(of log: Log) async throws -> Position { place }
  func isComplete(_ log: Log, since position: Position) async throws -> Bool { true }
  func release(_ log: Log) {}
  func close() async {}

  func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> [String: [UInt8]] {
    value.map { [name: $0] } ?? [:]
  }
}
