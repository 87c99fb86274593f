import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A carrier over the channels of a Redis or Valkey server, which keeps what was published in a stream for each
/// topic. So a process that was away also receives what one has said that has ended meanwhile.
public final class RedisStreamCarrier: ReplayingCarrier {
  private let live: RedisCarrier
  private let configuration: RedisCarrier.Configuration
  private let length: Int

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

  /// Sends what waits, and closes the connection.
  public func close() async { await live.close() }

  /// Publishes a payload, and appends it to the stream of its subject before.
  public func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    let words = ["XADD", stream(subject), "MAXLEN", "~", "\(length)", "*", "payload"]
    try live.publish(
      payload, to: subject, after: words.map { ByteBuffer(string: $0) } + [payload])
  }

  /// Returns what the server has in the stream of a subject, over a connection of its own.
  public func stored(_ subject: String, inTheLast time: TimeAmount) async throws -> [ByteBuffer] {
    let query = try await RedisQuery.connect(configuration)
    defer { query.close() }
    guard case .list(let clock) = try await query.ask("TIME"),
      let seconds = clock.first?.text.flatMap({ Int64($0) })
    else { throw RESP.Malformed() }
    var start = "\(seconds * 1_000 - time.nanoseconds / 1_000_000)"
    var payloads: [ByteBuffer] = []
    while payloads.count < length {
      let answer = try await query.ask("XRANGE", stream(subject), start, "+", "COUNT", "1000")
      guard case .list(let entries) = answer, !entries.isEmpty else { break }
      for entry in entries {
        guard case .list(let parts) = entry, parts.count == 2, let id = parts[0].text,
          case .list(let fields) = parts[1], fields.count == 2, case .bytes(let payload) = fields[1]
        else { throw RESP.Malformed() }
        start = "(\(id)"
        payloads.append(payload)
      }
    }
    return payloads
  }

  private func stream(_ subject: String) -> String { "stream.\(subject)" }
}

/// A connection that asks one thing after the other.
private final class RedisQuery: Sendable {
  private let channel: any Channel
  private let answers: Answers

  private init(_ channel: any Channel, _ answers: Answers) {
    self.channel = channel
    self.answers = answers
  }

  static func connect(_ configuration: RedisCarrier.Configuration) async throws -> RedisQuery {
    let answers = Answers()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(.seconds(2))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            ByteToMessageHandler(RESPDecoder()), Reader(answers))
        }
      }
      .connect(host: configuration.host, port: configuration.port).get()
    let query = RedisQuery(channel, answers)
    _ = try await query.ask(configuration.greeting)
    return query
  }

  func ask(_ words: String...) async throws -> RESP { try await ask(words) }

  private func ask(_ words: [String]) async throws -> RESP {
    let promise = channel.eventLoop.makePromise(of: RESP.self)
    let timeout = channel.eventLoop.scheduleTask(in: .seconds(5)) {
      promise.fail(ChannelError.connectTimeout(.seconds(5)))
    }
    defer { timeout.cancel() }
    answers.waiting.withLockedValue { $0.append(promise) }
    var bytes = ByteBuffer()
    RESP.write(words.map { ByteBuffer(string: $0) }, into: &bytes)
    channel.writeAndFlush(bytes, promise: nil)
    let answer = try await promise.futureResult.get()
    if case .error = answer { throw RESP.Malformed() }
    return answer
  }

  func close() { channel.close(promise: nil) }

  private final class Answers: Sendable {
    let waiting = NIOLockedValueBox<[EventLoopPromise<RESP>]>([])
  }

  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = RESP
    private let answers: Answers
    init(_ answers: Answers) { self.answers = answers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let answer = unwrapInboundIn(data)
      answers.waiting.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }?.succeed(answer)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      let waiting = answers.waiting.withLockedValue { waiting in
        defer { waiting = [] }
        return waiting
      }
      for promise in waiting { promise.fail(ChannelError.eof) }
    }
  }
}
