import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// A carrier over the channels of a Redis or Valkey server, which keeps what was published in a stream for each
/// topic. So a process that was away also receives what one has said that has ended meanwhile.
///
/// The server keeps the streams as well as it keeps everything else: without persistence, until it ends.
public final class RedisStreamCarrier: ReplayingCarrier {
  private let live: RedisCarrier
  private let configuration: RedisCarrier.Configuration
  private let length: Int
  private let state = NIOLockedValueBox(State())

  private struct State {
    var query: RedisQuery?
    var isClosed = false
    /// How many payloads are asked for: more while they are small, and after a failure one, which comes in time.
    var count = 1
  }

  /// Creates a carrier that is not connected yet.
  ///
  /// - Parameter length: How many payloads of each topic the server keeps, about.
  public init(_ configuration: RedisCarrier.Configuration, length: Int = 10_000) {
    live = RedisCarrier(configuration)
    self.configuration = configuration
    self.length = length
  }

  /// The size in bytes that was configured.
  public var payloadLimit: Int { live.payloadLimit }

  /// Connects, and connects again after each loss.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { live.open(receive) }

  /// Receives the payloads of a channel of this name.
  public func subscribe(to subject: String) { live.subscribe(to: subject) }

  /// Receives the payloads of the channel no longer.
  public func unsubscribe(from subject: String) { live.unsubscribe(from: subject) }

  /// Publishes a payload that is not kept.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: subject)
  }

  /// Sends what waits, and closes the connections.
  public func close() async {
    await live.close()
    let query = state.withLockedValue { state in
      state.isClosed = true
      return state.query.take()
    }
    query?.close()
  }

  /// Publishes a payload, and appends it to the stream of its subject before.
  public func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    let words = ["XADD", stream(subject), "MAXLEN", "~", "\(length)", "*", "payload"]
    try live.publish(
      payload, to: subject, after: words.map { ByteBuffer(string: $0) } + [payload])
  }

  /// Reads in the stream of a subject, over a connection of its own.
  public func stored(
    _ subject: String, after position: StoredPosition?
  ) async throws -> StoredPayloads {
    let (known, isClosed) = state.withLockedValue { ($0.query.take(), $0.isClosed) }
    guard !isClosed else { throw CarrierError.closed }
    if let known {
      do { return try await read(known, stream(subject), after: position) } catch {
        // It may have been closed since it was used last.
        known.close()
        state.withLockedValue { $0.count = 1 }
      }
    }
    let query = try await RedisQuery.connect(configuration)
    do { return try await read(query, stream(subject), after: position) } catch {
      query.close()
      state.withLockedValue { $0.count = 1 }
      throw error
    }
  }

  private func stream(_ subject: String) -> String { "stream.\(subject)" }

  private func read(
    _ query: RedisQuery, _ stream: String, after position: StoredPosition?
  ) async throws -> StoredPayloads {
    let start = "0-0"
    let count = state.withLockedValue { $0.count }
    var place = position
    while true {
      // In one step, so that the entries are of the store whose epoch is told.
      let words =
        place.map { ["XRANGE", stream, "(\($0.offset)", "+", "COUNT", "\(count)"] }
        ?? ["XREVRANGE", stream, "+", "-", "COUNT", "1"]
      let answer = try await query.ask(["MULTI"], ["XINFO", "GROUPS", stream], words, ["EXEC"])
      guard case .list(let answers) = answer, answers.count == 2 else { throw RESP.Malformed() }
      guard let epoch = epoch(in: answers[0]) else {
        try await begin(stream, query)
        continue
      }
      var page = StoredPayloads([], end: .init(epoch: epoch, offset: start), hasMore: false)
      if let known = place, known.epoch != epoch {
        place = page.end
        continue
      }
      let entries = try entries(in: answers[1])
      page.end.offset = entries.last?.id ?? place?.offset ?? start
      if place != nil {
        page.payloads = entries.map(\.payload)
        page.hasMore = entries.count == count
        let bytes = page.payloads.reduce(0) { $0 + $1.readableBytes }
        state.withLockedValue {
          $0.count = bytes < 1 << 18 ? min(64, count * 2) : max(1, count / 2)
        }
      }
      let isKept = state.withLockedValue { state in
        guard !state.isClosed, state.query == nil else { return false }
        state.query = query
        return true
      }
      if !isKept { query.close() }
      return page
    }
  }

  private func entries(in answer: RESP) throws -> [(id: String, payload: ByteBuffer)] {
    guard case .list(let entries) = answer else { throw RESP.Malformed() }
    return try entries.map { entry in
      guard case .list(let parts) = entry, parts.count == 2, let id = parts[0].text,
        case .list(let fields) = parts[1]
      else { throw RESP.Malformed() }
      // What somebody else has appended is no payload of a carriage, which tells that.
      guard fields.count == 2, fields[0].text == "payload", case .bytes(let payload) = fields[1]
      else { return (id, ByteBuffer()) }
      return (id, payload)
    }
  }

  // MARK: The epoch

  // A group of readers belongs to the stream, and ends with it. This one has no readers: the place at which it
  // stands is a number that no other stream's has, and so tells this stream from one that was made after it.

  private static let group = "multicast"

  private func epoch(in answer: RESP) -> String? {
    guard case .list(let groups) = answer else { return nil }
    for case .list(let fields) in groups {
      let pairs = Dictionary(
        zip(
          fields.indices.filter { $0 % 2 == 0 }.map { fields[$0].text ?? "" },
          fields.indices.filter { $0 % 2 == 1 }.map { fields[$0].text ?? "" }),
        uniquingKeysWith: { $1 })
      if pairs["name"] == Self.group { return pairs["last-delivered-id"] }
    }
    return nil
  }

  private func begin(_ stream: String, _ query: RedisQuery) async throws {
    let epoch = "\(UInt64.random(in: 1 ... .max))-\(UInt64.random(in: 0 ... .max))"
    do {
      try await query.ask(["XGROUP", "CREATE", stream, Self.group, epoch, "MKSTREAM"])
    } catch let refusal as RedisQuery.Refusal where refusal.description.hasPrefix("BUSYGROUP") {
      // Another process has been faster.
    }
  }
}
