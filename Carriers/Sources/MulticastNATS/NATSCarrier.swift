import Foundation
import MulticastCarrier

/// A carrier over the streams of NATS JetStream, with the official C client.
///
/// All topics of a prefix share a stream, with a subject for each. Topics that keep their latest message share a second
/// stream, which keeps the last 64 records of each topic forever. The processes' own values, for ``Presence``, are in a
/// third one. A stream that does not exist is created. One of the servers is used, and another one after that
/// connection is lost.
public final class NATSCarrier: Carrier, Registry {
  private let configuration: NATSConfiguration
  private let sessions: Sessions<Session>
  private let messageLimit: Locked<Int>
  /// The number of its stream up to which each topic was read, including the records of other topics; and the number from
  /// which on records may have been dropped unread, until the stream has said whether they were.
  let known = Locked<[Log: (number: UInt64, doubt: UInt64?)]>([:])
  /// The last identifier that was sent for each topic.
  private let sent = Locked<[Log: UInt64]>([:])

  /// Creates a carrier, which connects when it is used.
  public init(_ configuration: NATSConfiguration) {
    let limit = Locked(1 << 20)  // nats-server's default
    (self.configuration, messageLimit) = (configuration, limit)
    sessions = Sessions { Session(configuration, isAnother: $0, patience: $1, messageLimit: limit) }
  }

  /// Closes the carrier. Records that were not acknowledged before may have been stored or not.
  public func close() async { await sessions.close()?.close() }

  // MARK: - Streams

  /// Returns the state of a stream, and creates the stream if it does not exist.
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
    let (bytes, age) = (configuration.maxBytes, configuration.maxAge.count(of: .nanoseconds(1)))
    let limits =
      log.keepsLatest
      ? #""max_msgs_per_subject":64"#
      : #""max_bytes":\#(bytes),"max_age":\#(age)"#
    let answer = try await stream(
      log.stream, log.subjects, #""storage":"file",\#(limits)"#, session)
    session.streams.withLock { $0[log.stream] = answer }
    return answer
  }

  /// Returns the position of the topic's last record.
  public func end(of log: Log) async throws -> Position {
    let session = try sessions.current()
    let stream = try await stream(log, session)
    let last = try await session.ask(
      "STREAM.MSG.GET." + log.stream, #"{"last_by_subj":"\#(log.subject)"}"#)
    if last.error?.code == 404 { return Position(epoch: stream.epoch, number: 0) }
    return try last.checked().position(stream.epoch)
  }

  // MARK: - Out and in

  /// The server's `max_payload`, less 1 KiB for the headers of a record.
  public var recordLimit: Int { messageLimit.withLock(\.self) - 1_024 }

  /// Stores a record, and waits for the server's acknowledgement.
  public func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position {
    let session = try sessions.current()
    let known = session.streams.withLock { $0[log.stream] }
    let stream = if let known { known } else { try await stream(log, session) }
    let limit = min(recordLimit, stream.recordLimit)
    do {
      guard record.count <= limit else {
        throw CarrierError.tooLarge(bytes: record.count, limit: limit)
      }
      // Nothing is noted after a cancellation, as in `read`.
      let isFirst = sent.withLock {
        Task.isCancelled ? false : $0.updateValue(id, forKey: log) != id
      }
      let answer = try await session.request(log.subject, record, id: "\(id)").checked()
      guard let number = answer.seq, answer.stream == log.stream else {
        throw CarrierError.refused("It was stored in another stream: \(answer.stream ?? "?")")
      }
      if answer.duplicate == true, isFirst {
        throw CarrierError.refused("The server takes a new record for a repeated one.")
      }
      return Position(epoch: stream.epoch, number: number, part: mark(record))
    } catch {
      // The stream may have been deleted or changed, so look at it before the next attempt.
      session.streams.withLock { $0[log.stream] = nil }
      throw error
    }
  }

  /// Reads with a consumer of the server. If the server loses the consumer, creates another one.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    let session = try sessions.current()
    if let consumer = session.consumer(of: log), consumer.position == position,
      !consumer.isForgotten(at: .now)
    {
      return try await read(log, limit: limit, session)
    }
    session.release(log)
    let stream = try await stream(log, session)
    guard stream.epoch == position.epoch, position.number <= stream.state?.last_seq ?? 0 else {
      throw CarrierError.beganAnew(Position(epoch: stream.epoch, number: 0))
    }
    let first = stream.state?.first_seq ?? 0
    // After a failover or a restored store, the numbers of lost records are given to other records.
    if position.number >= max(first, 1), position.part > 0 {
      let last = try await session.ask(
        "STREAM.MSG.GET." + log.stream, #"{"seq":\#(position.number)}"#)
      if last.error?.code != 404, try last.checked().position(stream.epoch) != position {
        throw CarrierError.beganAnew(Position(epoch: stream.epoch, number: 0))
      }
    }
    let answer = try await session.ask(
      "CONSUMER.CREATE." + log.stream,
      #"""
      {"stream_name":"\#(log.stream)","config":{"filter_subject":"\#(log.subject)",\#
      "deliver_policy":"by_start_sequence","opt_start_seq":\#(position.number &+ 1),"ack_policy":"none",\#
      "mem_storage":true,"num_replicas":1,"inactive_threshold":60000000000}}
      """#
    ).checked()
    guard let name = answer.name else { throw CarrierError.refused("There is no consumer.") }
    // A store that was restored may end before the number up to which it was read.
    let before = known.withLock { $0[log]?.number }.map { min($0, stream.state?.last_seq ?? 0) }
    let consumer = Consumer(
      log, name, after: position,
      read: position.number > 0 ? max(position.number, before ?? 0) : before, first: first,
      end: answer.num_pending == 0 ? stream.state?.last_seq : nil)
    return try await read(log, limit: limit, session, with: consumer)
  }

  private func read(
    _ log: Log, limit: Int, _ session: Session, with new: Consumer? = nil
  ) async throws -> [Record] {
    // Even if the connection is lost during the read, because the next consumer begins behind the drop and cannot find it.
    defer {
      known.withLock { known in
        // With the lock held: `release`, which comes after a cancellation, removes whatever this stores. So the topic begins without
        // a doubt if it is carried again.
        if !Task.isCancelled, let consumer = session.consumer(of: log) ?? new {
          let doubt = session.takeDoubt(log) ?? new?.doubt
          known[log] = (consumer.known, known[log]?.doubt ?? doubt)
        }
      }
    }
    return try await session.read(log, limit: limit, with: new)
  }

  /// Asks for the stream's first record, if a record may have been dropped.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    guard let doubt = known.withLock({ $0[log]?.doubt }) else { return true }
    let first = try await stream(log, sessions.current()).state?.first_seq ?? 0
    known.withLock { if !Task.isCancelled { $0[log]?.doubt = nil } }
    return first <= doubt &+ 1
  }

  /// Ends the consumer.
  public func release(_ log: Log) {
    known.withLock { $0[log] = nil }
    sent.withLock { $0[log] = nil }
    sessions.last?.release(log)
  }

  // MARK: - Keys with an expiry

  /// Stores a value as the only record of a subject. Names are letters, digits, hyphens and underscores.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool) {
    guard isName(name) else { throw CarrierError.refused("\(name) is no name.") }
    let session = try sessions.current()
    let (own, subjects) = (streamName(prefix, "here"), prefix + ".here.")
    let age = expiry.count(of: .nanoseconds(1))
    let limits = #""max_age":\#(age),"max_msgs_per_subject":1,"storage":"memory""#
    let all = try await stream(own, subjects, limits, session, asking: #"{"subjects_filter":">"}"#)
    let subject = subjects + name
    _ =
      if let value { try await session.request(subject, value).checked() } else {
        try await session.ask("STREAM.PURGE." + own, #"{"filter":"\#(subject)"}"#).checked()
      }
    var values = [name: value].compactMapValues(\.self)
    let kept = all.state?.subjects ?? [:]
    // Any client may publish to any subject, and the question contains it as a text in JSON.
    let others = kept.keys.filter { $0 != subject && isName($0.dropFirst(subjects.count)) }
    // Ask for 64 of them together. One after the other, the answers about many processes would arrive after their values have
    // expired. Large values of other clients, all at once, would exceed the limit of what waits in the session.
    for start in stride(from: 0, to: others.count, by: 64) {
      try await withThrowingTaskGroup(of: (String, Answer).self) { group in
        for other in others[start...].prefix(64) {
          group.addTask {
            let question = #"{"last_by_subj":"\#(other)"}"#
            return (other, try await session.ask("STREAM.MSG.GET." + own, question))
          }
        }
        // It may have expired meanwhile.
        for try await (other, answer) in group where answer.error?.code != 404 {
          let data = try answer.checked().message?.data ?? Data()
          values[String(other.dropFirst(subjects.count))] = Array(data)
        }
      }
    }
    return (values, kept[subject] != nil)
  }
}

/// The answers of JetStream to all requests that are made here.
struct Answer: Decodable {
  struct Refusal: Decodable {
    let code: Int
    let description: String?
  }
  struct State: Decodable {
    let first_seq, last_seq: UInt64
    let subjects: [String: Int]?
  }
  struct Message: Decodable {
    let seq: UInt64?
    let data: Data?
  }
  struct Configuration: Decodable { let max_msg_size: Int? }

  let error: Refusal?
  let stream, name, created: String?
  let seq, num_pending: UInt64?
  let duplicate: Bool?
  let state: State?
  let message: Message?
  let config: Configuration?

  /// A number for the time at which a stream was created.
  var epoch: UInt64 { sum((created ?? "").utf8) }

  /// Returns the position of a message.
  func position(_ epoch: UInt64) -> Position {
    let bytes = message?.data.map(Array.init) ?? []
    return Position(epoch: epoch, number: message?.seq ?? 0, part: mark(bytes))
  }

  /// The size of the largest record that the stream stores.
  var recordLimit: Int { config?.max_msg_size.flatMap { $0 > 0 ? $0 : nil } ?? .max }

  func checked() throws(CarrierError) -> Answer {
    if let error { throw .refused(error.description ?? "It says \(error.code).") }
    return self
  }
}

extension Log {
  var stream: String { streamName(prefix, keepsLatest ? "latest" : nil) }
  fileprivate var subjects: String { "\(prefix).\(keepsLatest ? "latest" : "log")." }
  fileprivate var subject: String { subjects + name }
}

/// Whether a text can be the name of a process in a subject.
private func isName(_ text: some StringProtocol) -> Bool {
  Log(prefix: "", type: String(text), keepsLatest: false).name == text
}

/// The name of a stream, which may contain no point. No prefix contains `=`, so different prefixes have different
/// streams.
private func streamName(_ prefix: String, _ kind: String?) -> String {
  prefix.replacing(".", with: "=") + (kind.map { "==\($0)" } ?? "")
}

private func sum(_ bytes: some Sequence<UInt8>) -> UInt64 {
  bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

/// Distinguishes a record from another one that the server later gives the same number. The beginning of a record is
/// enough, because it contains the sender and the number of the first message. It is never 0, which means a position
/// without a record.
func mark(_ record: [UInt8]) -> UInt64 {
  (sum(record.prefix(128)) ^ UInt64(record.count) &* 0x9E37_79B9_7F4A_7C15) | 1
}
