import MulticastCarrier
import Synchronization

/// A generator of random numbers that repeats them for the same seed.
package struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64
  package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

/// A carrier whose connection fails: before an append is stored, after it, and in the middle of reading.
package final class FaultyCarrier: Carrier, Registry {
  private let inner: any Carrier
  private let random: Locked<SplitMix>
  private let isCalm = Atomic(false)

  package init(_ inner: any Carrier, seed: UInt64) {
    self.inner = inner
    random = Locked(SplitMix(seed: seed))
  }

  /// From now on, no call fails.
  package func calm() { isCalm.store(true, ordering: .relaxed) }

  private func fail(_ percent: Int, _ what: String) throws {
    guard !isCalm.load(ordering: .relaxed), random.withLock({ $0.chance(percent) }) else { return }
    throw CarrierError.disconnected(what)
  }

  package var recordLimit: Int { inner.recordLimit }

  package func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position {
    try fail(10, "before")
    let place = try await inner.append(record, to: log, id: id)
    try fail(15, "after")
    return place
  }

  package func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    try fail(10, "read")
    let most = random.withLock { 1 + $0.below(limit) }
    let records = try await inner.read(log, after: position, limit: most)
    try fail(10, "read")
    return records
  }

  package func end(of log: Log) async throws -> Position {
    try fail(20, "end")
    return try await inner.end(of: log)
  }

  package func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    try await inner.isComplete(log, since: position)
  }

  package func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool) {
    try fail(30, "register")
    guard let registry = inner as? any Registry else { return ([:], false) }
    return try await registry.register(value, as: name, in: prefix, expiry: expiry)
  }

  package func release(_ log: Log) { inner.release(log) }
  package func close() async { await inner.close() }
}
