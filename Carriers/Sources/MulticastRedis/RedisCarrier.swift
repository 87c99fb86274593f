import MulticastCarrier

/// A carrier over the streams of Redis or Valkey, from version 5 on.
///
/// Each topic has a stream. A script stores a record and publishes it with its position, so that a reader that keeps up
/// receives it on a second connection, without asking. A reader that has just begun, was slow or has lost a connection
/// reads the stream to its end first. From then on, it takes each published record that directly follows the last one.
public final class RedisCarrier: Carrier, Registry {
  /// Stores a record with the epoch of its log and the position of the record before it, and publishes all three.
  private static let append = """
    local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
    local epoch, before = last and last[2][4], last and last[1] or '0-0'
    if not epoch or not epoch:match('^%d+$') or #epoch > 19 then epoch = ARGV[1] end
    local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], ARGV[3], '*', 'r', ARGV[5], 'e', epoch, 'b', before)
    if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
    local place = epoch .. ' ' .. id .. ' ' .. before
    redis.call('PUBLISH', KEYS[1], place .. '\\n' .. ARGV[5])
    return place
    """
  /// Returns the server's time in seconds, whether the answer had no room for more, and the positions and contents of
  /// records. Leaves out the contents of the record at the beginning, which the reader has, and of records that are too
  /// large. An entry that no carrier has written gets the epoch 0 and no position before it. It keeps its own position, because a
  /// reader has to get past it.
  private static let read = """
    local function known(text, pattern, most) return text and #text <= most and text:match(pattern) end
    local all, size, isFull = {}, 0, 0
    for _, entry in ipairs(redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3], 'COUNT', ARGV[4])) do
      local fields, record = entry[2], entry[2][2]
      if entry[1] == ARGV[2] or #record > tonumber(ARGV[6]) then record = '' end
      size = size + #record
      if size > tonumber(ARGV[5]) and size > #record then isFull = 1 break end
      local epoch, before = known(fields[4], '^%d+$', 19), known(fields[6], '^%d+%-%d+$', 41)
      local place = (epoch or '0') .. ' ' .. entry[1] .. ' ' .. (before or '0-0')
      all[#all + 1], all[#all + 2] = place, record
    end
    return {redis.call('TIME')[1], isFull, all}
    """
  /// Stores a value in a hash until a time. Returns whether there was one, and all names and values, as long as they fit
  /// into an answer. More values, or larger ones, are not those of processes.
  private static let register = """
    local time = redis.call('TIME')
    local now, all, was, size = time[1] * 1000 + math.floor(time[2] / 1000), {}, 0, 0
    local values = redis.call('HGETALL', KEYS[1])
    for index = 1, #values, 2 do
      local name, till, value = values[index], values[index + 1]:match('^(%d+) (.*)$')
      local sum = size + #name + #(value or '')
      if not till or tonumber(till) <= now then redis.call('HDEL', KEYS[1], name)
      elseif name == ARGV[1] then was = 1
      elseif #name <= 200 and sum < 2097152 and #all < 32768 then size, all[#all + 1], all[#all + 2] = sum, name, value end
    end
    if ARGV[2] == '0' then redis.call('HDEL', KEYS[1], ARGV[1]) else
      redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + ARGV[2]) .. ' ' .. ARGV[3])
      if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
      all[#all + 1], all[#all + 2] = ARGV[1], ARGV[3]
    end
    return {was, all}
    """
  private let configuration: RedisConfiguration
  private let sessions: Sessions<RedisSession>
  /// What this carrier knows of a log.
  private struct Known {
    /// The epoch of the last record that was read.
    var epoch: UInt64?
    /// The epoch that this carrier will give to the log if it has no record.
    var next: UInt64?
    /// When the log was last read to its end.
    var time: ContinuousClock.Instant?
    /// Whether it was empty then, and no record was read before.
    var isEmpty = false
    /// Whether records were dropped before they were read.
    var isIncomplete = false
  }

  /// What is known of each log, by its key.
  private let known = Locked<[String: Known]>([:])

  /// Creates a carrier, which connects when it is used.
  public init(_ configuration: RedisConfiguration) {
    self.configuration = configuration
    sessions = Sessions { RedisSession(configuration, isAnother: $0, patience: $1) }
  }

  /// The limit of the configuration.
  public var recordLimit: Int { configuration.recordLimit }

  /// Ends both connections.
  public func close() async { sessions.close()?.end(.closed) }

  /// Runs a script, by the name that the server has given to it.
  private func run(
    _ script: String, _ key: String, _ words: [String], _ last: [UInt8]? = nil
  ) async throws -> Words {
    let session = try sessions.current()
    do {
      var name = session.names.withLock { $0[script] } ?? ""
      if name.isEmpty {
        name = try await session.send(["SCRIPT", "LOAD", script]).text(0)
        session.names.withLock { [name] in $0[script] = name }
      }
      return try await session.send(["EVALSHA", name, "1", key] + words, last)
    } catch CarrierError.refused(let reason) {
      // Another server may now answer at the same address, or this one has forgotten the script.
      if reason.contains(/READONLY|LOADING|MASTERDOWN|NOAUTH|NOSCRIPT/) {
        session.end(.disconnected(reason))
      }
      throw CarrierError.refused(reason)
    }
  }
}

// MARK: - Logs

extension Log {
  /// The only key of a topic, so that the topic is in one slot of a cluster.
  fileprivate var key: String { "\(prefix):\(keepsLatest ? "latest" : "log"):\(type)" }
}

extension RedisCarrier {
  /// Stores a record with one command.
  public func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position {
    guard record.count <= recordLimit else {
      throw CarrierError.tooLarge(bytes: record.count, limit: recordLimit)
    }
    let length = log.keepsLatest ? configuration.latestRecords : configuration.records
    let expiry = log.keepsLatest ? 0 : configuration.expiry.count(of: .milliseconds(1))
    // The epoch of a log that has none yet. If the log is deleted afterwards, it gets another one.
    let epoch = known.withLock { $0[log.key]?.next.take() } ?? RedisCarrier.newEpoch
    let words = ["\(epoch)", log.keepsLatest ? "=" : "~", "\(length)", "\(expiry)"]
    let answer = try await run(RedisCarrier.append, log.key, words, record)
    guard let place = Place(answer.text(0)) else {
      throw CarrierError.refused("The server has answered something else.")
    }
    return place.position
  }

  private static var newEpoch: UInt64 { .random(in: 1 ... .max >> 1) }

  /// Entries of a stream, and the server's time in milliseconds, which numbers them.
  private typealias Entries = (time: UInt64, isFull: Bool, all: [(place: Place, bytes: [UInt8])])

  /// - Parameter limit: The largest record whose contents are returned.
  private func ask(
    _ log: Log, _ command: String, _ from: String, _ to: String, _ count: Int, limit: Int
  ) async throws -> Entries {
    // As many bytes as this number of small records. A first record that is larger comes alone.
    let words = [command, from, to, "\(count)", "\(count << 14)", "\(limit)"]
    let answer = try await run(RedisCarrier.read, log.key, words)
    let all = stride(from: 2, to: answer.count - 1, by: 2).compactMap { index in
      Place(answer.text(index)).map { place in
        // The reader reports an entry that is not a record.
        (place, answer[index + 1].map { Array(buffer: $0) } ?? [])
      }
    }
    return ((UInt64(answer.text(0)) ?? 0) &* 1_000, answer.text(1) == "1", all)
  }

  /// Returns the end of the topic's stream.
  public func end(of log: Log) async throws -> Position {
    let all = try await ask(log, "XREVRANGE", "+", "-", 16, limit: 0).all
    let last = all.first?.place.position
    let epoch = known.withLock { known in
      let epoch = all.first { $0.place.position.epoch > 0 }?.place.position.epoch
      // An entry that no carrier has written has no epoch. Many of them do not begin a new one.
      if let epoch = epoch ?? (all.isEmpty ? nil : known[log.key]?.epoch) { return epoch }
      let next = known[log.key]?.next ?? RedisCarrier.newEpoch
      if !Task.isCancelled { known[log.key, default: Known()].next = next }
      return next
    }
    return Position(epoch: epoch, number: last?.number ?? 0, part: last?.part ?? 0)
  }

  /// Returns published records, or else reads the stream.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    while true {
      let session = try sessions.current()
      if let heard = try await session.next(log.key, after: position) {
        known.withLock { known in
          if Task.isCancelled { return }
          known[log.key]?.time = .now
          if !heard.isEmpty { known[log.key]?.isEmpty = false }
        }
        return heard
      }
      if Task.isCancelled {
        // Only here: what is known of the log may be the next line's.
        session.release(log.key)
        throw CancellationError()
      }
      let id = "\(position.number)-\(position.part)"
      let entries = try await ask(log, "XRANGE", id, "+", limit + 1, limit: recordLimit)
      try await check(log, position, entries)
      let isAll = !entries.isFull && entries.all.count <= limit
      let records = entries.all.filter { $0.place.position > position }.prefix(limit).map {
        let (own, place) = ($0.place.position, position)
        let epoch = own.epoch > 0 ? own.epoch : place.epoch
        return Record(
          position: Position(epoch: epoch, number: own.number, part: own.part), bytes: $0.bytes)
      }
      let last = records.last?.position ?? position
      known.withLock { known in
        // With the lock held, because `release`, which comes after a cancellation, removes whatever this has stored.
        if Task.isCancelled { return }
        var own = known[log.key] ?? Known()
        (own.epoch, own.isEmpty) = (last.epoch, position.number == 0 && entries.all.isEmpty)
        if isAll { own.time = .now }
        known[log.key] = own
      }
      session.follow(log.key, from: isAll ? last : nil)
      if !records.isEmpty { return Array(records) }
    }
  }

  /// Finds out what happened to the record before a position, if it is missing, and to the records after it.
  private func check(_ log: Log, _ position: Position, _ entries: Entries) async throws {
    let known = known.withLock { $0[log.key] } ?? Known()
    // An entry that no carrier has written does not know what was before it.
    let before = entries.all.first { $0.place.position.epoch > 0 }?.place.before
    // A stream expires if no message was posted for a long time. A reader that was away for as long may have missed its last
    // records.
    let expiry = configuration.expiry
    let mayExpire = !log.keepsLatest && expiry > .zero
    let wasAway = known.time.map { .now - $0 >= expiry } ?? true
    if position.number == 0 {
      // The first record of a log that was read while it was empty has none before it.
      let isFirst = before.map { $0.number == 0 } ?? true
      if known.isEmpty, !isFirst || mayExpire && wasAway { noteLoss(log) }
      return
    }
    let first = entries.all.first?.place.position
    let other = if let first { first } else { try await end(of: log) }
    // An entry that no carrier has written has no epoch.
    let isSame = [0, position.epoch].contains(other.epoch)
    if isSame, (other.number, other.part) == (position.number, position.part) { return }
    // The server's time is in whole seconds.
    let time = other.number > 0 ? other.number : entries.time + 999
    let age = Int64(clamping: time) - Int64(clamping: position.number)
    let hasExpired = mayExpire && age >= expiry.count(of: .milliseconds(1))
    // If the next record followed an earlier one, no record was at the position. Another client has published it, or the
    // server has lost its end. A record that was stored before the position may be unread.
    let wasThere =
      before.map { $0.number == 0 || $0.epoch != position.epoch || $0 >= position } ?? true
    let isNext = isSame && other > position
    guard wasThere, isNext || hasExpired else {
      throw CarrierError.beganAnew(Position(epoch: other.epoch, number: 0))
    }
    // If another record was between the two, the server has dropped unread records. If not, it has dropped records that were read.
    if isNext ? before.map({ $0 > position }) ?? true : wasAway { noteLoss(log) }
  }

  private func noteLoss(_ log: Log) {
    // Nothing is noted after a cancellation, as in `read`.
    known.withLock { if !Task.isCancelled { $0[log.key, default: Known()].isIncomplete = true } }
  }

  /// Returns whether no record was missing when the stream was read.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    known.withLock { known in
      defer { if !Task.isCancelled { known[log.key]?.isIncomplete = false } }
      return known[log.key]?.isIncomplete != true
    }
  }

  /// Stops listening to the topic.
  public func release(_ log: Log) {
    known.withLock { $0[log.key] = nil }
    sessions.last?.release(log.key)
  }

  /// Stores a value in a hash until it expires.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool) {
    let time = value == nil ? 0 : expiry.count(of: .milliseconds(1))
    let all = try await run(
      RedisCarrier.register, "\(prefix):here", [name, "\(time)"], value ?? [])
    let values = stride(from: 2, to: all.count, by: 2).reduce(into: [:]) { values, index in
      values[all.text(index - 1)] = all[index].map { Array(buffer: $0) }
    }
    return (values, all.text(0) == "1")
  }
}
