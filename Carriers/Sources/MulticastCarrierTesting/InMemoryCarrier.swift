import MulticastCarrier
import Synchronization

/// A carrier over logs in memory.
public final class InMemoryCarrier: Carrier, Registry {
  /// Logs that several carriers can share.
  public final class Engine: Sendable {
    fileprivate struct State {
      var logs: [Log: [Record]] = [:]
      var last: [Log: UInt64] = [:]
      var values: [String: [String: (value: [UInt8], end: ContinuousClock.Instant)]] = [:]
      var epoch: UInt64 = 1
      var isDown = false
      var commands = 0
      var count: UInt64 = 0
      var waiters: [(Int, Log, CheckedContinuation<Void, Never>)] = []
      var number = 0

      /// Removes and returns the reads that wait for a log, or all of them.
      mutating func takeWaiters(_ isMeant: (Int, Log) -> Bool) -> [CheckedContinuation<Void, Never>]
      {
        defer { waiters.removeAll { isMeant($0.0, $0.1) } }
        return waiters.filter { isMeant($0.0, $0.1) }.map(\.2)
      }
    }

    fileprivate let length: Int
    fileprivate let state = Locked(State())

    /// - Parameter length: The number of records that are kept for each topic.
    public init(length: Int = 10_000) { self.length = length }

    /// Whether no carrier can reach the engine.
    public var isDown: Bool {
      get { state.withLock { $0.isDown } }
      set {
        let waiters = state.withLock { state in
          state.isDown = newValue
          return state.takeWaiters { _, _ in true }
        }
        for waiter in waiters { waiter.resume() }
      }
    }

    /// The number of requests that carriers have made.
    public var commands: Int { state.withLock { $0.commands } }

    /// Deletes all records.
    public func empty() {
      let waiters = state.withLock { state in
        (state.logs, state.last, state.values) = ([:], [:], [:])
        state.epoch += 1
        return state.takeWaiters { _, _ in true }
      }
      for waiter in waiters { waiter.resume() }
    }

    /// The data that an engine held at a moment.
    public struct Saved: Sendable {
      fileprivate let logs: [Log: [Record]]
      fileprivate let last: [Log: UInt64]
    }

    /// Returns a copy of the data.
    public func save() -> Saved {
      state.withLock { Saved(logs: $0.logs, last: $0.last) }
    }

    /// Goes back to a copy of the data, as a server that is restored from a backup.
    public func restore(_ saved: Saved) {
      let waiters = state.withLock { state in
        (state.logs, state.last, state.values) = (saved.logs, saved.last, [:])
        return state.takeWaiters { _, _ in true }
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  private let engine: Engine
  private let isClosed = Atomic(false)
  /// The value given to `init`, or 1 MiB.
  public let recordLimit: Int

  /// Creates a carrier over an engine of its own, or a shared one.
  public init(_ engine: Engine = Engine(), recordLimit: Int = 1 << 20) {
    (self.engine, self.recordLimit) = (engine, recordLimit)
  }

  private func use<Result>(_ body: (inout Engine.State) throws -> Result) throws -> Result {
    try engine.state.withLock { state in
      if isClosed.load(ordering: .relaxed) { throw CarrierError.closed }
      state.commands += 1
      if state.isDown { throw CarrierError.disconnected("It is down.") }
      return try body(&state)
    }
  }

  /// Stores a record.
  public func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position {
    guard record.count <= recordLimit else {
      throw CarrierError.tooLarge(bytes: record.count, limit: recordLimit)
    }
    let (position, waiters) = try use { state in
      state.count += 1
      let number = state.last[log, default: 0] + 1
      let position = Position(epoch: state.epoch, number: number, part: state.count)
      state.last[log] = position.number
      state.logs[log, default: []].append(Record(position: position, bytes: record))
      if state.logs[log, default: []].count > (log.keepsLatest ? 64 : engine.length) {
        state.logs[log]?.removeFirst()
      }
      return (position, state.takeWaiters { $1 == log })
    }
    for waiter in waiters { waiter.resume() }
    return position
  }

  /// Waits until there are records, the engine cannot be reached, or the carrier is closed.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    while true {
      let records = try use { state in
        let records = state.logs[log] ?? []
        let last = records.first { $0.position.number == position.number }?.position ?? position
        guard state.epoch == position.epoch, position.number <= state.last[log] ?? 0,
          last == position || position.part == 0
        else { throw CarrierError.beganAnew(Position(epoch: state.epoch, number: 0)) }
        let start = records.firstIndex { $0.position > position } ?? records.endIndex
        var size = 0
        let some = records[start...].prefix(limit).prefix { record in
          size += record.bytes.count
          return size <= limit << 14 || size == record.bytes.count
        }
        return Array(some)
      }
      if !records.isEmpty { return records }
      try await wait(for: log, after: position)
    }
  }

  private func wait(for log: Log, after position: Position) async throws {
    let number = engine.state.withLock { state in
      state.number += 1
      return state.number
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isOver = engine.state.withLock { state in
          if Task.isCancelled || isClosed.load(ordering: .relaxed) || state.isDown
            || state.epoch != position.epoch || state.last[log, default: 0] > position.number
          {
            return true
          }
          state.waiters.append((number, log, waiter))
          return false
        }
        if isOver { waiter.resume() }
      }
    } onCancel: {
      let waiters = engine.state.withLock { $0.takeWaiters { other, _ in other == number } }
      for waiter in waiters { waiter.resume() }
    }
    try Task.checkCancellation()
  }

  /// Returns the end of the log.
  public func end(of log: Log) async throws -> Position {
    try use { $0.logs[log]?.last?.position ?? Position(epoch: $0.epoch, number: 0) }
  }

  /// Does nothing.
  public func release(_ log: Log) {}

  /// Returns whether the position is still in the log, or just before its first record.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    try use { ($0.logs[log]?.first?.position.number ?? 0) <= position.number + 1 }
  }

  /// Stores a value for a while.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool) {
    try use { state in
      let wasKept = state.values[prefix]?[name].map { $0.end > .now } ?? false
      state.values[prefix, default: [:]][name] = value.map { ($0, .now + expiry) }
      state.values[prefix] = state.values[prefix]?.filter { $0.value.end > .now }
      return ((state.values[prefix] ?? [:]).mapValues(\.value), wasKept)
    }
  }

  /// Ends all calls that wait in this carrier.
  public func close() async {
    isClosed.store(true, ordering: .relaxed)
    let waiters = engine.state.withLock { $0.takeWaiters { _, _ in true } }
    for waiter in waiters { waiter.resume() }
  }
}
