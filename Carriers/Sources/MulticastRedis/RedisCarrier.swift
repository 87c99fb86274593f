import MulticastCarrier

/// A carrier over the streams of Redis or Valkey, from version 5 on.
///
/// Each topic has a stream. A script stores a record and publishes it with its place, so that who follows a topic gets it
/// without asking: a second connection hears it. Who has just come, was slow or has lost a connection reads the stream
/// until nothing is between what was read and what is heard.
public final class RedisCarrier: Carrier, Registry {
  private static let epoch = """
    local epoch = redis.call('GET', KEYS[2])
    if not epoch then epoch = ARGV[1] redis.call('SET', KEYS[2], epoch) end

    """
  /// Keeps a record, then tells it: the epoch of the database, the place and the record.
  private static let append =
    epoch + """
      local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], ARGV[3], '*', 'r', ARGV[5])
      if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
      local place = epoch .. ' ' .. id
      redis.call('PUBLISH', KEYS[1], place .. '\\n' .. ARGV[5])
      return place
      """
  /// Returns the epoch, and places and contents of records.
  private static let read =
    epoch + """
      local all = {epoch}
      for _, entry in ipairs(redis.call(ARGV[2], KEYS[1], ARGV[3], ARGV[4], 'COUNT', ARGV[5])) do
        all[#all + 1], all[#all + 2] = entry[1], entry[2][2]
      end
      return all
      """
  /// Keeps a value in a key with an expiry, and its name in a set. Returns all names and values.
  private static let register = """
    local function key(name) return KEYS[1] .. ':' .. name end
    if ARGV[2] == '0' then redis.call('DEL', key(ARGV[1])) else
      redis.call('SADD', KEYS[1], ARGV[1])
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
      redis.call('SET', key(ARGV[1]), ARGV[3], 'PX', ARGV[2])
    end
    local all = {}
    for _, name in ipairs(redis.call('SMEMBERS', KEYS[1])) do
      local value = redis.call('GET', key(name))
      if value then all[#all + 1], all[#all + 2] = name, value else
        redis.call('SREM', KEYS[1], name)
      end
    end
    return all
    """
  private let configuration: RedisConfiguration
  private let sessions: Sessions<RedisSession>
  /// Topics of which something was dropped before it was read.
  private let incomplete = Locked<Set<String>>([])

  /// Creates a carrier, which connects when it is used.
  public init(_ configuration: RedisConfiguration) {
    self.configuration = configuration
    sessions = Sessions { RedisSession(configuration, isAnother: $0) }
  }

  /// As configured.
  public var recordLimit: Int { configuration.recordLimit }

  /// Ends both connections.
  public func close() async { sessions.close()?.end(.closed) }

  /// Runs a script.
  private func run(
    _ script: String, _ keys: [String], _ words: [String], _ last: [UInt8]? = nil
  ) async throws -> Words {
    let session = try sessions.current()
    do {
      return try await session.send(["EVAL", script, "\(keys.count)"] + keys + words, last)
    } catch CarrierError.refused(let reason) {
      // Behind the same name, another server may be in charge now.
      if ["READONLY", "LOADING", "MASTERDOWN", "NOAUTH"].contains(where: reason.contains) {
        session.end(.disconnected(reason))
      }
      throw CarrierError.refused(reason)
    }
  }
}

// MARK: - Logs

extension Log {
  fileprivate var key: String { "\(prefix):\(keepsLatest ? "latest" : "log"):\(type)" }
  fileprivate var keys: [String] { [key, "\(prefix):epoch"] }
}

extension RedisCarrier {
  /// An epoch for a database that has none yet.
  private var newEpoch: String { "\(UInt64.random(in: 1 ... .max >> 1))" }

  /// Stores a record with one command.
  public func append(_ record: [UInt8], to log: Log, id: String) async throws -> Position {
    guard record.count <= recordLimit else {
      throw CarrierError.tooLarge(bytes: record.count, limit: recordLimit)
    }
    let length = log.keepsLatest ? configuration.latestRecords : configuration.records
    let expiry = log.keepsLatest ? 0 : Int64(configuration.expiry / .milliseconds(1))
    let words = [newEpoch, log.keepsLatest ? "=" : "~", "\(length)", "\(expiry)"]
    let answer = try await run(RedisCarrier.append, log.keys, words, record)
    guard let place = Position(answer.text(0)) else {
      throw CarrierError.refused("The server has answered something else.")
    }
    return place
  }

  /// Asks for records, and for the beginning of the stream.
  private func ask(
    _ log: Log, _ words: String...
  ) async throws -> (beginning: Position, records: [Record]) {
    let answer = try await run(RedisCarrier.read, log.keys, [newEpoch] + words)
    guard let beginning = Position("\(answer.text(0)) 0-0") else {
      throw CarrierError.refused("\(log.keys[1]) is used for something else.")
    }
    let records = stride(from: 1, to: answer.count - 1, by: 2).compactMap { index in
      Position("\(answer.text(0)) \(answer.text(index))").map {
        // What is no record is told by who reads it.
        Record(position: $0, bytes: answer[index + 1].map { Array(buffer: $0) } ?? [])
      }
    }
    return (beginning, records)
  }

  /// Returns the end of the topic's stream.
  public func end(of log: Log) async throws -> Position {
    let (beginning, records) = try await ask(log, "XREVRANGE", "+", "-", "1")
    return records.last?.position ?? beginning
  }

  /// Returns what is heard, or else reads the stream.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    while true {
      let session = try sessions.current()
      if let heard = try await session.next(log.key, after: position) { return heard }
      if Task.isCancelled {
        release(log)
        throw CancellationError()
      }
      let id = "\(position.number)-\(position.part)"
      var (beginning, records) = try await ask(log, "XRANGE", id, "+", "\(limit + 1)")
      guard beginning.epoch == position.epoch else { throw CarrierError.beganAnew(beginning) }
      // What is before it is dropped before it. If that is there, the server has lost its end in a crash.
      if position.number > 0, !records.isEmpty, records[0].position != position,
        try await ask(log, "XREVRANGE", id, "-", "1").records.isEmpty
      {
        incomplete.withLock { _ = $0.insert(log.key) }
      }
      let isAll = records.count <= limit
      records = Array(records.filter { $0.position > position }.prefix(limit))
      session.follow(log.key, from: isAll ? records.last?.position ?? position : nil)
      if !records.isEmpty { return records }
    }
  }

  /// Returns whether all was there when the stream was read.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    incomplete.withLock { $0.remove(log.key) == nil }
  }

  /// Hears the topic no longer.
  public func release(_ log: Log) {
    incomplete.withLock { _ = $0.remove(log.key) }
    sessions.last?.release(log.key)
  }

  /// Keeps a value in a key with an expiry.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> [String: [UInt8]] {
    let time = value == nil ? 0 : Int64(expiry / .milliseconds(1))
    let all = try await run(
      RedisCarrier.register, ["\(prefix):here"], [name, "\(time)"], value ?? [])
    return stride(from: 1, to: all.count, by: 2).reduce(into: [:]) { values, index in
      values[all.text(index - 1)] = all[index].map { Array(buffer: $0) }
    }
  }
}
