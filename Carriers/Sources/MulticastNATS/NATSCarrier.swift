import Foundation
import MulticastCarrier

/// A carrier over the streams of NATS JetStream, with the official C client.
///
/// All topics of a prefix share a stream, with a subject for each. Topics that keep their latest have a stream of their
/// own, which keeps the last eight records of each of them for ever, and what processes tell of themselves has a third
/// one. A stream that is not there is made. One of the servers is used, and another one when it is lost.
public final class NATSCarrier: Carrier, Registry {
  private let configuration: NATSConfiguration
  private let sessions: Sessions<Session>
  private let messageLimit: Locked<Int>

  /// Creates a carrier, which connects when it is used.
  public init(_ configuration: NATSConfiguration) {
    let limit = Locked(1 << 20)  // nats-server's default
    (self.configuration, messageLimit) = (configuration, limit)
    sessions = Sessions { Session(configuration, isAnother: $0, messageLimit: limit) }
  }

  /// Ends. What was not acknowledged by then may have been stored or not.
  public func close() async { await sessions.close()?.close() }

  // MARK: - Streams

  /// The state of a stream, which is made if there is none.
  private func stream(
    _ name: String, _ subjects: String, _ limits: String, _ session: Session,
    asking body: String = ""
  ) async throws -> Answer {
    let answer = try await session.ask("STREAM.INFO." + name, body)
    if answer.error?.code != 404 { return try answer.checked() }
    let replicas = configuration.replicas
    return try await session.ask(
      "STREAM.CREATE." + name,
      #"{"name":"\#(name)","subjects":["\#(subjects)>"],"num_replicas":\#(replicas),\#(limits)}"#
    ).checked()
  }

  private func stream(_ log: Log, _ session: Session) async throws -> Answer {
    let (bytes, age) = (configuration.maxBytes, Int64(configuration.maxAge / .nanoseconds(1)))
    let limits =
      log.keepsLatest
      ? #""max_msgs_per_subject":8"#
      : #""max_bytes":\#(bytes),"max_age":\#(age)"#
    let answer = try await stream(
      log.stream, log.subjects, #""storage":"file",\#(limits)"#, session)
    session.streams.withLock { $0[log.stream] = answer }
    return answer
  }

  /// Returns the end of the topic's stream.
  public func end(of log: Log) async throws -> Position {
    let stream = try await stream(log, sessions.current())
    return Position(epoch: stream.epoch, number: stream.state?.last_seq ?? 0)
  }

  // MARK: - Out and in

  /// The server's `max_payload`, less 1 KiB for what stands before a record.
  public var recordLimit: Int { messageLimit.withLock(\.self) - 1_024 }

  /// Stores a record, and waits for the server's acknowledgement.
  public func append(_ record: [UInt8], to log: Log, id: String) async throws -> Position {
    let session = try sessions.current()
    let known = session.streams.withLock { $0[log.stream] }
    let stream = if let known { known } else { try await stream(log, session) }
    let limit = min(recordLimit, stream.recordLimit)
    do {
      guard record.count <= limit else {
        throw CarrierError.tooLarge(bytes: record.count, limit: limit)
      }
      // The server knows identifiers of the whole stream.
      let answer = try await session.request(log.subject, record, id: "\(log.name)-\(id)").checked()
      guard let number = answer.seq, answer.stream == log.stream else {
        throw CarrierError.refused("It was stored in another stream: \(answer.stream ?? "?")")
      }
      return Position(epoch: stream.epoch, number: number)
    } catch {
      // Perhaps the stream was deleted or changed: it is looked at before the next attempt.
      session.streams.withLock { $0[log.stream] = nil }
      throw error
    }
  }

  /// Reads with a consumer of the server's, which is made anew where it is lost.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    let session = try sessions.current()
    if session.reads(log, at: position) { return try await session.read(log, limit: limit) }
    let stream = try await stream(log, session)
    guard stream.epoch == position.epoch, position.number <= stream.state?.last_seq ?? 0 else {
      throw CarrierError.beganAnew(Position(epoch: stream.epoch, number: 0))
    }
    let answer = try await session.ask(
      "CONSUMER.CREATE." + log.stream,
      #"""
      {"stream_name":"\#(log.stream)","config":{"filter_subject":"\#(log.subject)",\#
      "deliver_policy":"by_start_sequence","opt_start_seq":\#(position.number + 1),"ack_policy":"none",\#
      "mem_storage":true,"num_replicas":1,"inactive_threshold":60000000000}}
      """#
    ).checked()
    guard let name = answer.name else { throw CarrierError.refused("There is no consumer.") }
    let consumer = Consumer(log, name, after: position)
    return try await session.read(log, limit: limit, with: consumer)
  }

  /// Asks for the stream's first record, if one may have been dropped.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    let session = try sessions.current()
    guard let doubt = session.takeDoubt(log) else { return true }
    let first = try await stream(log, session).state?.first_seq ?? 0
    return first <= max(doubt, position.number) + 1
  }

  /// Ends the consumer.
  public func release(_ log: Log) { sessions.last?.release(log) }

  // MARK: - Keys with an expiry

  /// Keeps a value as the only record of a subject. Names are letters, digits, hyphens and underscores.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> [String: [UInt8]] {
    guard Log(prefix: prefix, type: name, keepsLatest: false).name == name else {
      throw CarrierError.refused("\(name) is no name.")
    }
    let session = try sessions.current()
    let (own, subjects) = (prefix.replacing(".", with: "_") + "_here", prefix + ".here.")
    let age = Int64(expiry / .nanoseconds(1))
    let limits = #""max_age":\#(age),"max_msgs_per_subject":1,"storage":"memory""#
    let all = try await stream(own, subjects, limits, session, asking: #"{"subjects_filter":">"}"#)
    let subject = subjects + name
    _ =
      if let value { try await session.request(subject, value).checked() } else {
        try await session.ask("STREAM.PURGE." + own, #"{"filter":"\#(subject)"}"#).checked()
      }
    var values = [name: value].compactMapValues(\.self)
    for other in all.state?.subjects?.keys ?? [:].keys where other != subject {
      let answer = try await session.ask("STREAM.MSG.GET." + own, #"{"last_by_subj":"\#(other)"}"#)
      // It may have expired meanwhile.
      if answer.error?.code == 404 { continue }
      let data = try answer.checked().message?.data ?? Data()
      values[String(other.dropFirst(subjects.count))] = Array(data)
    }
    return values
  }
}

/// What JetStream answers to all that it is asked here.
struct Answer: Decodable {
  struct Refusal: Decodable {
    let code: Int
    let description: String?
  }
  struct State: Decodable {
    let first_seq, last_seq: UInt64
    let subjects: [String: Int]?
  }
  struct Message: Decodable { let data: Data? }
  struct Configuration: Decodable { let max_msg_size: Int? }

  let error: Refusal?
  let stream, name, created: String?
  let seq: UInt64?
  let state: State?
  let message: Message?
  let config: Configuration?

  /// A number for the time at which a stream was made.
  var epoch: UInt64 {
    (created ?? "").utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// The size of the largest record that a stream takes.
  var recordLimit: Int { config?.max_msg_size.flatMap { $0 > 0 ? $0 : nil } ?? .max }

  func checked() throws(CarrierError) -> Answer {
    if let error { throw .refused(error.description ?? "It says \(error.code).") }
    return self
  }
}

extension Log {
  var stream: String { prefix.replacing(".", with: "_") + (keepsLatest ? "_latest" : "") }
  fileprivate var subjects: String { "\(prefix).\(keepsLatest ? "latest" : "log")." }
  fileprivate var subject: String { subjects + name }
}
