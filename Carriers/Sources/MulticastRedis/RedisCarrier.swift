import MulticastCarrier
import NIOCore
import Synchronization

/// A carrier over the streams of Redis or Valkey, from version 5 on.
///
/// Each topic has a stream. A script stores a record and publishes it with its place, so that who follows a topic gets it
/// without asking: a second connection hears it. Who has just come, was slow or has lost a connection reads the stream
/// until nothing is between what was read and what is heard.
public final class RedisCarrier: Carrier, Registry {
  /// Two connections that end together: behind the same name, another server may be in charge by then.
  private struct Session {
    let commands, listener: RedisConnection

    func close() {
      commands.close()
      listener.close()
    }
  }

  private typealias Waiter = CheckedContinuation<Record?, any Error>

  /// A topic that is listened to.
  private struct Topic {
    /// Behind what was read, if that was all; nil as long as the stream has to be read.
    var place: Position?
    /// Behind what was heard.
    var heard = Position(epoch: 0, number: 0)
    var waiter: Waiter?
  }

  private struct State {
    var session: Task<Session, any Error>?
    /// Of the session.
    var number = 0
    /// By channel.
    var topics: [String: Topic] = [:]
    /// Topics of which something was dropped before it was read.
    var incomplete: Set<String> = []
    var isClosed = false
  }

  /// Keeps a record, then tells it: the epoch of the database, the place and the record.
  private static let keep = """
    local epoch = redis.call('GET', KEYS[2])
    if not epoch then epoch = ARGV[1] redis.call('SET', KEYS[2], epoch) end
    local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], ARGV[3], '*', 'r', ARGV[5])
    if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
    redis.call('PUBLISH', KEYS[1], epoch .. ' ' .. id .. ' ' .. ARGV[5])
    return {epoch, id}
    """
  private let configuration: RedisConfiguration
  private let state = Mutex(State())

  /// Creates a carrier, which connects when it is used.
  public init(_ configuration: RedisConfiguration) { self.configuration = configuration }

  deinit { end(nil, CarrierError.closed) }

  /// As configured.
  public var recordLimit: Int { configuration.recordLimit }

  /// Ends both connections.
  public func close() async { end(nil, CarrierError.closed) }

  // MARK: Connections

  /// The connections, which are made if there are none.
  private func session() async throws -> Session {
    let (task, number) = try state.withLock { state in
      if state.isClosed { throw CarrierError.closed }
      if let task = state.session { return (task, state.number) }
      state.number += 1
      let number = state.number
      let task = Task { [configuration, weak self] in
        let commands = try await RedisConnection.connect(configuration)
        do {
          let listener = try await RedisConnection.connect(configuration) { [weak self] in
            self?.hear($0, $1)
          }
          for one in [commands, listener] {
            one.whenClosed { [weak self] in
              self?.end(number, CarrierError.disconnected("The connection was lost."))
            }
          }
          return Session(commands: commands, listener: listener)
        } catch {
          commands.close()
          throw error
        }
      }
      state.session = task
      return (task, number)
    }
    do { return try await task.value } catch {
      end(number, error)
      throw error
    }
  }

  /// Ends a session, or for good. Who waits is told.
  private func end(_ number: Int?, _ error: any Error) {
    let (session, topics) = state.withLock {
      state -> (Task<Session, any Error>?, [String: Topic]) in
      if number == nil { state.isClosed = true }
      guard number ?? state.number == state.number, let session = state.session.take() else {
        return (nil, [:])
      }
      defer { state.topics = [:] }
      return (session, state.topics)
    }
    for topic in topics.values { topic.waiter?.resume(throwing: error) }
    if let session { Task { try await session.value.close() } }
  }

  private func send(_ commands: [[String]], _ last: [UInt8]? = nil) async throws -> [Reply] {
    do {
      let session = try await session()
      let replies = try await session.commands.send(commands, last)
      for case .error(let reason) in replies {
        // Behind the same name, another server may be in charge now.
        if ["READONLY", "LOADING", "MASTERDOWN", "NOAUTH"].contains(where: reason.contains) {
          session.close()
        }
        throw CarrierError.refused(reason)
      }
      return replies
    } catch { throw state.withLock { $0.isClosed } ? CarrierError.closed : error }
  }
}

// MARK: - Logs

extension Log {
  fileprivate var key: String { "\(prefix):\(keepsLatest ? "latest" : "log"):\(type)" }
  fileprivate var epochKey: String { "\(prefix):epoch" }
}

extension Position {
  fileprivate var id: String { "\(number)-\(part)" }

  fileprivate init?(_ id: String?, epoch: String?) {
    let parts = (id ?? "").split(separator: "-").compactMap { UInt64($0) }
    guard parts.count == 2, let epoch = epoch.flatMap({ UInt64($0) }) else { return nil }
    self.init(epoch: epoch, number: parts[0], part: parts[1])
  }
}

extension Reply {
  fileprivate var content: [UInt8]? {
    if case .bytes(let bytes) = self { Array(bytes.readableBytesView) } else { nil }
  }
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
    let words = [
      "EVAL", RedisCarrier.keep, "2", log.key, log.epochKey, newEpoch,
      log.keepsLatest ? "=" : "~", "\(length)", "\(expiry)",
    ]
    let answer = try await send([words], record)[0].list.map(\.text)
    guard answer.count == 2, let position = Position(answer[1], epoch: answer[0]) else {
      throw CarrierError.refused("The server has answered something else.")
    }
    return position
  }

  /// Asks for the epoch and for records, together.
  private func ask(_ log: Log, _ command: String...) async throws -> (Position, [Record]) {
    let replies = try await send(
      [["SET", log.epochKey, newEpoch, "NX"], ["GET", log.epochKey], command])
    let epoch = replies[1].text
    guard let beginning = Position("0-0", epoch: epoch) else {
      throw CarrierError.refused("\(log.epochKey) is used for something else.")
    }
    let records = replies[2].list.compactMap { entry in
      // What is no record is told by who reads it.
      Position(entry.list.first?.text, epoch: epoch).map {
        Record(position: $0, bytes: entry.list.last?.list.last?.content ?? [])
      }
    }
    return (beginning, records)
  }

  /// Returns the end of the topic's stream.
  public func end(of log: Log) async throws -> Position {
    let (beginning, records) = try await ask(log, "XREVRANGE", log.key, "+", "-", "COUNT", "1")
    return records.last?.position ?? beginning
  }

  /// Returns what is heard, or else reads the stream.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    while true {
      try await listen(log)
      if let record = try await wait(for: log.key, after: position) { return [record] }
      if Task.isCancelled {
        release(log)
        throw CancellationError()
      }
      let records = try await catchUp(log, after: position, limit: limit)
      if !records.isEmpty { return records }
    }
  }

  private func listen(_ log: Log) async throws {
    let session = try await session()
    let isNew = state.withLock { state in
      defer { state.topics[log.key] = state.topics[log.key] ?? Topic() }
      return state.topics[log.key] == nil
    }
    guard isNew else { return }
    do {
      for case .error(let reason) in try await session.listener.send([["SUBSCRIBE", log.key]]) {
        throw CarrierError.refused(reason)
      }
    } catch {
      forget(log.key)
      throw state.withLock { $0.isClosed } ? CarrierError.closed : error
    }
  }

  /// Reads the stream from a place on. If that was all, the topic is heard from there on.
  private func catchUp(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    let isStart = position.number == 0
    let count = limit + (isStart ? 0 : 1)
    var (beginning, records) = try await ask(
      log, "XRANGE", log.key, isStart ? "-" : position.id, "+", "COUNT", "\(count)")
    guard beginning.epoch == position.epoch else { throw CarrierError.beganAnew(beginning) }
    let isAll = records.count < count
    let isComplete = isStart || records.isEmpty || records[0].position == position
    records = Array(records.filter { $0.position > position }.prefix(limit))
    state.withLock { state in
      state.topics[log.key]?.place = isAll ? records.last?.position ?? position : nil
      if !isComplete { state.incomplete.insert(log.key) }
    }
    return records
  }

  /// Waits for the next record behind a place; returns nil if the stream has to be read.
  private func wait(for key: String, after place: Position) async throws -> Record? {
    try await withCheckedThrowingContinuation { done in
      let waits = state.withLock { state in
        guard !Task.isCancelled, let topic = state.topics[key], topic.place == place,
          topic.heard <= place
        else { return false }
        state.topics[key]?.waiter = done
        return true
      }
      if !waits { done.resume(returning: nil) }
    }
  }

  /// A record was stored, on a thread of the connection's.
  private func hear(_ channel: ByteBuffer, _ content: ByteBuffer) {
    let parts = content.readableBytesView.split(
      separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    let words = parts.map { String(decoding: $0.prefix(50), as: UTF8.self) }
    guard parts.count == 3, let position = Position(words[1], epoch: words[0]) else { return }
    let key = String(buffer: channel)
    let (waiter, isNext) = state.withLock { state in
      guard var topic = state.topics[key] else { return (nil as Waiter?, false) }
      defer { state.topics[key] = topic }
      let isNext = topic.place?.epoch == position.epoch
      // What was read already.
      if isNext, let place = topic.place, position <= place { return (nil, false) }
      topic.heard = position
      if !isNext { topic.place = nil } else if topic.waiter != nil { topic.place = position }
      return (topic.waiter.take(), isNext)
    }
    waiter?.resume(returning: isNext ? Record(position: position, bytes: Array(parts[2])) : nil)
  }

  /// Returns whether all was there when the stream was read.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    state.withLock { $0.incomplete.remove(log.key) == nil }
  }

  /// Hears the topic no longer.
  public func release(_ log: Log) {
    forget(log.key)
    guard let session = state.withLock({ $0.session }) else { return }
    Task {
      _ = try await session.value.listener.send([["UNSUBSCRIBE", log.key]])
      // Who has come back meanwhile subscribes once more: his subscription may have been the earlier one.
      forget(log.key)
    }
  }

  private func forget(_ key: String) {
    let topic = state.withLock { state in
      state.incomplete.remove(key)
      return state.topics.removeValue(forKey: key)
    }
    topic?.waiter?.resume(returning: nil)
  }

  /// Keeps a value in a key with an expiry.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> [String: [UInt8]] {
    let set = "\(prefix):here"
    let time = "\(Int64(expiry / .milliseconds(1)))"
    let commands =
      value == nil
      ? [["SREM", set, name], ["DEL", "\(set):\(name)"]]
      : [["SADD", set, name], ["PEXPIRE", set, time], ["PSETEX", "\(set):\(name)", time]]
    _ = try await send(commands, value)
    let names = try await send([["SMEMBERS", set]])[0].list.compactMap(\.text)
    let values = try await send(names.map { ["GET", "\(set):\($0)"] }).map(\.content)
    let all = Dictionary(zip(names, values)) { one, _ in one }
    _ = try await send(names.filter { all[$0] == .some(nil) }.map { ["SREM", set, $0] })
    return all.compactMapValues(\.self)
  }
}
