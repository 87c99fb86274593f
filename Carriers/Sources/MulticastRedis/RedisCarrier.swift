import MulticastCarrier
import NIOCore
import Synchronization

/// What was heard of a topic, and not read yet.
private struct Topic {
  /// The connection that hears it.
  var listener: ObjectIdentifier?
  /// Whether all that is behind `position` is in `records`, or will be.
  var isFollowing = false
  var position = Position(epoch: 0, number: 0)
  var records: [Record] = []
  var bytes = 0
  var isIncomplete = false
  var waiter: CheckedContinuation<Void, any Error>?
  var since = ContinuousClock.now

  mutating func lag() -> CheckedContinuation<Void, any Error>? {
    (isFollowing, records, bytes) = (false, [], 0)
    return waiter.take()
  }

  enum Step { case records([Record]), wait, read }

  /// What is to be done for who has read up to a place.
  mutating func step(after place: Position, _ limit: Int) -> Step {
    guard isFollowing, place == position else { return .read }
    if records.isEmpty { return .wait }
    let some = Array(records.prefix(limit))
    records.removeFirst(some.count)
    bytes -= some.reduce(0) { $0 + $1.bytes.count }
    position = some[some.count - 1].position
    return .records(some)
  }

  /// Nothing is between this place and what was heard.
  mutating func follow(from place: Position) {
    guard isFollowing else { return }
    records.removeAll { $0.position <= place }
    bytes = records.reduce(0) { $0 + $1.bytes.count }
    position = place
  }
}

/// A carrier over the streams of Redis or Valkey, from version 5 on.
///
/// Each topic has a stream. A script stores a record and publishes it with its place, so that who follows a topic gets it
/// without asking: a second connection hears it. Who has just come, was slow or has lost a connection reads the stream
/// until nothing is between what was read and what is heard.
public final class RedisCarrier: Carrier, Registry {
  /// A connection, or one that is being made.
  private struct Link {
    let number: UInt64
    let task: Task<RedisConnection, any Error>
  }

  private struct State {
    var commands: Link?
    var listener: Link?
    var links: UInt64 = 0
    var topics: [Log: Topic] = [:]
    var logs: [String: Log] = [:]
    var isClosed = false
  }

  /// Keeps a record, then tells it: the epoch of the database, the place and the record.
  private static let script = """
    local epoch = redis.call('GET', KEYS[2])
    if not epoch then epoch = ARGV[1] redis.call('SET', KEYS[2], epoch) end
    local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], ARGV[3], '*', 'r', ARGV[5])
    if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
    redis.call('PUBLISH', KEYS[1], epoch .. ' ' .. id .. ' ' .. ARGV[5])
    return {epoch, id}
    """
  /// Of each topic, so much may wait for its handlers; who is slower reads the stream.
  private static let buffered = (records: 64, bytes: 1 << 20)
  private static let patience = Duration.seconds(4)
  private let configuration: RedisConfiguration
  private let state = Mutex(State())

  /// Creates a carrier, which connects when it is used.
  public init(_ configuration: RedisConfiguration) {
    self.configuration = configuration
    eachSecond(self) { $0.sweep() }
  }

  /// As configured.
  public var recordLimit: Int { configuration.recordLimit }

  /// Ends both connections.
  public func close() async {
    let (links, waiters) = state.withLock { state in
      state.isClosed = true
      defer { (state.commands, state.listener, state.topics) = (nil, nil, [:]) }
      return ([state.commands, state.listener], state.topics.values.compactMap(\.waiter))
    }
    for waiter in waiters { waiter.resume(throwing: CarrierError.closed) }
    for link in links { (try? await link?.task.value)?.close() }
  }

  // MARK: Connections

  /// The connection for commands or the one that hears, which is made if there is none.
  private func connection(
    _ way: WritableKeyPath<State, Link?> & Sendable
  ) async throws -> RedisConnection {
    let link = try state.withLock { state in
      if state.isClosed { throw CarrierError.closed }
      if let link = state[keyPath: way] { return link }
      state.links += 1
      let number = state.links
      let task = Task { [configuration, weak self] in
        try await RedisConnection.connect(configuration) { [weak self] channel, content in
          self?.hear(channel, content)
        } end: { [weak self] reason in
          self?.lost(way, number, reason)
        }
      }
      let link = Link(number: number, task: task)
      state[keyPath: way] = link
      return link
    }
    do { return try await link.task.value } catch {
      lost(way, link.number, "\(error)")
      throw error
    }
  }

  private func lost(
    _ way: WritableKeyPath<State, Link?> & Sendable, _ number: UInt64, _ reason: String
  ) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      guard state[keyPath: way]?.number == number else { return [] }
      state[keyPath: way] = nil
      guard way == \.listener else { return [] }
      return state.topics.keys.compactMap { log in
        state.topics[log]?.listener = nil
        return state.topics[log]?.lag()
      }
    }
    for waiter in waiters { waiter.resume(throwing: CarrierError.disconnected(reason)) }
  }

  private func send(_ commands: [[String]], _ last: [UInt8]? = nil) async throws -> [Reply] {
    let connection = try await connection(\.commands)
    let replies = try await answered { try await connection.send(commands, last) }
    for case .error(let reason) in replies {
      // Behind the same name, another server may be in charge now.
      if ["READONLY", "LOADING", "MASTERDOWN", "NOAUTH"].contains(where: reason.contains) {
        connection.close()
      }
      throw CarrierError.refused(reason)
    }
    return replies
  }

  private func answered<Result>(_ body: () async throws -> Result) async throws -> Result {
    do { return try await body() } catch {
      throw state.withLock { $0.isClosed } ? CarrierError.closed : error
    }
  }

  /// Wakes who has waited for long.
  private func sweep() -> Bool {
    let (waiters, isClosed) = state.withLock { state in
      let waiters = state.topics.keys.compactMap { log in
        let isDue = state.topics[log].map { .now - $0.since > RedisCarrier.patience } ?? false
        return isDue ? state.topics[log]?.waiter.take() : nil
      }
      return (waiters, state.isClosed)
    }
    for waiter in waiters { waiter.resume() }
    return !isClosed
  }
}

// MARK: - Logs

extension Log {
  fileprivate var key: String { "\(prefix):\(keepsLatest ? "latest" : "log"):\(type)" }
  fileprivate var epochKey: String { "\(prefix):epoch" }
}

extension Position {
  fileprivate var id: String { "\(number)-\(part)" }

  fileprivate init?(_ id: String?, epoch: UInt64) {
    let parts = (id ?? "").split(separator: "-").compactMap { UInt64($0) }
    guard parts.count == 2 else { return nil }
    self.init(epoch: epoch, number: parts[0], part: parts[1])
  }
}

extension RedisCarrier {
  /// Stores a record with one command.
  public func append(_ record: [UInt8], to log: Log, id: String) async throws -> Position {
    guard record.count <= recordLimit else {
      throw CarrierError.tooLarge(bytes: record.count, limit: recordLimit)
    }
    let own = configuration
    let words = [
      "EVAL", RedisCarrier.script, "2", log.key, log.epochKey,
      "\(UInt64.random(in: 1 ... .max >> 1))",
      log.keepsLatest ? "=" : "~", "\(log.keepsLatest ? own.latestRecords : own.records)",
      log.keepsLatest ? "0" : "\(Int64(own.expiry / .milliseconds(1)))",
    ]
    let place = try await send([words], record)[0].list.map(\.text)
    guard place.count == 2, let epoch = place[0].flatMap({ UInt64($0) }),
      let position = Position(place[1], epoch: epoch)
    else { throw CarrierError.refused("The server has answered something else.") }
    return position
  }

  /// Asks for the epoch and something else, together.
  private func ask(_ log: Log, _ command: [String]) async throws -> (epoch: UInt64, Reply) {
    let own = "\(UInt64.random(in: 1 ... .max >> 1))"
    let replies = try await send(
      [["SET", log.epochKey, own, "NX"], ["GET", log.epochKey], command])
    guard let epoch = replies[1].text.flatMap({ UInt64($0) }) else {
      throw CarrierError.refused("\(log.epochKey) is used for something else.")
    }
    return (epoch, replies[2])
  }

  private func records(_ reply: Reply, _ epoch: UInt64) -> [Record] {
    reply.list.compactMap { entry in
      guard let position = Position(entry.list.first?.text, epoch: epoch) else { return nil }
      // What is no record is told by who reads it.
      guard case .bytes(let bytes)? = entry.list.last?.list.last else {
        return Record(position: position, bytes: [])
      }
      return Record(position: position, bytes: Array(bytes.readableBytesView))
    }
  }

  /// Returns the end of the topic's stream.
  public func end(of log: Log) async throws -> Position {
    let (epoch, reply) = try await ask(log, ["XREVRANGE", log.key, "+", "-", "COUNT", "1"])
    return records(reply, epoch).last?.position ?? Position(epoch: epoch, number: 0)
  }

  /// Returns what was heard, or else reads the stream.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    let listener = try await connection(\.listener)
    if state.withLock({ $0.topics[log]?.listener != ObjectIdentifier(listener) }) {
      try await subscribe(log, listener)
    }
    let step: () -> Topic.Step? = {
      self.state.withLock { $0.topics[log]?.step(after: position, limit) }
    }
    var next = step()
    if case .wait? = next {
      try await wait(for: log)
      next = step()
    }
    switch next {
    case .records(let records)?: return records
    case .wait?: return []
    case .read?: return try await catchUp(log, after: position, limit: limit)
    case nil:
      let isClosed = state.withLock { $0.isClosed }
      throw isClosed ? CarrierError.closed : CarrierError.disconnected("Released.")
    }
  }

  private func subscribe(_ log: Log, _ listener: RedisConnection) async throws {
    state.withLock { state in
      _ = state.topics[log, default: Topic()].lag()
      state.logs[log.key] = log
    }
    let reply = try await answered { try await listener.send([["SUBSCRIBE", log.key]]) }
    if case .error(let reason) = reply[0] { throw CarrierError.refused(reason) }
    state.withLock { $0.topics[log]?.listener = ObjectIdentifier(listener) }
  }

  /// Reads the stream from a place on, and follows from there if that was all.
  private func catchUp(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    // What is stored from now on is heard, too.
    state.withLock { state in
      state.topics[log]?.isFollowing = true
      state.topics[log]?.position = position
    }
    let isStart = position.number == 0
    let count = limit + (isStart ? 0 : 1)
    let command = ["XRANGE", log.key, isStart ? "-" : position.id, "+", "COUNT", "\(count)"]
    let (epoch, reply) = try await ask(log, command)
    guard epoch == position.epoch else {
      throw CarrierError.beganAnew(Position(epoch: epoch, number: 0))
    }
    var records = records(reply, epoch)
    let isWhole = isStart || records.isEmpty || records[0].position == position
    let isAll = records.count < count
    records.removeAll { $0.position <= position }
    records = Array(records.prefix(limit))
    state.withLock { state in
      guard var topic = state.topics.removeValue(forKey: log) else { return }
      if !isWhole { topic.isIncomplete = true }
      if isAll { topic.follow(from: records.last?.position ?? position) } else { _ = topic.lag() }
      state.topics[log] = topic
    }
    return records
  }

  private func wait(for log: Log) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      let result: Result<Void, any Error>? = state.withLock { state in
        if state.isClosed { return .failure(CarrierError.closed) }
        guard let topic = state.topics[log], topic.isFollowing, topic.records.isEmpty else {
          return .success(())
        }
        state.topics[log]?.waiter = done
        state.topics[log]?.since = .now
        return nil
      }
      if let result { done.resume(with: result) }
    }
  }

  /// A record was stored, on a thread of the connection's.
  private func hear(_ channel: ByteBuffer, _ content: ByteBuffer) {
    let parts = content.readableBytesView.split(
      separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let epoch = UInt64(String(decoding: parts[0], as: UTF8.self)),
      let position = Position(String(decoding: parts[1], as: UTF8.self), epoch: epoch)
    else { return }
    let record = Record(position: position, bytes: Array(parts[2]))
    let waiter: CheckedContinuation<Void, any Error>? = state.withLock { state in
      guard let log = state.logs[String(buffer: channel)],
        var topic = state.topics.removeValue(forKey: log)
      else { return nil }
      defer { state.topics[log] = topic }
      guard topic.isFollowing, position > topic.position || epoch != topic.position.epoch else {
        return nil
      }
      topic.records.append(record)
      topic.bytes += record.bytes.count
      let isTooMuch =
        topic.records.count > RedisCarrier.buffered.records
        || topic.bytes > RedisCarrier.buffered.bytes && topic.records.count > 1
      return isTooMuch || epoch != topic.position.epoch ? topic.lag() : topic.waiter.take()
    }
    waiter?.resume()
  }

  /// Returns whether all was there when the stream was read.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    state.withLock { state in
      let isIncomplete = state.topics[log]?.isIncomplete ?? false
      state.topics[log]?.isIncomplete = false
      return !isIncomplete
    }
  }

  /// Hears the topic no longer.
  public func release(_ log: Log) {
    let (waiter, listener) = state.withLock { state in
      state.logs[log.key] = nil
      return (state.topics.removeValue(forKey: log)?.waiter, state.listener)
    }
    waiter?.resume(throwing: CarrierError.disconnected("Released."))
    Task { try await listener?.task.value.send([["UNSUBSCRIBE", log.key]]) }
  }
}

// MARK: - Keys with an expiry

extension RedisCarrier {
  /// Keeps a value in a key with an expiry, and its name in a set.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> [String: [UInt8]] {
    let set = "\(prefix):here"
    let time = "\(Int64(expiry / .milliseconds(1)))"
    if let value {
      _ = try await send([["SADD", set, name], ["PEXPIRE", set, time]])
      _ = try await send([["PSETEX", "\(set):\(name)", time]], value)
    } else {
      _ = try await send([["SREM", set, name], ["DEL", "\(set):\(name)"]])
    }
    let names = try await send([["SMEMBERS", set]])[0].list.compactMap(\.text)
    guard !names.isEmpty else { return [:] }
    let values = try await send([["MGET"] + names.map { "\(set):\($0)" }])[0].list
    var kept: [String: [UInt8]] = [:]
    for (name, value) in zip(names, values) {
      if case .bytes(let bytes) = value { kept[name] = Array(bytes.readableBytesView) }
    }
    let gone = names.filter { kept[$0] == nil }
    if !gone.isEmpty { _ = try await send([["SREM", set] + gone]) }
    return kept
  }
}
