import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A carrier over the channels of a Redis or Valkey server, from Redis 6 on.
///
/// One connection in RESP3 publishes and receives. A ping each five seconds notices a server that stands
/// still.
public final class RedisCarrier: Carrier {
  private struct State {
    var subjects: Set<String> = []
    var channel: (any Channel)?
    var waiting = 0
    var isReady = false
    var isClosed = false
  }

  private let configuration: Configuration
  private let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
  private let state = NIOLockedValueBox(State())

  /// Creates a carrier that is not connected yet.
  public init(_ configuration: Configuration) { self.configuration = configuration }

  /// The size in bytes that was configured.
  public var payloadLimit: Int { configuration.payloadLimit }

  /// Connects, and connects again half a second after each loss.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) {
    loop.execute { self.connect(receive) }
  }

  private func connect(_ receive: @escaping @Sendable (CarrierEvent) -> Void) {
    guard !state.withLockedValue({ $0.isClosed }) else { return }
    let receive: @Sendable (CarrierEvent) -> Void = { [weak self] event in
      switch event {
      case .connected: self?.state.withLockedValue { $0.isReady = true }
      case .disconnected: self?.state.withLockedValue { $0.isReady = false }
      default: break
      }
      receive(event)
    }
    configuration.connect(on: loop) { [configuration, state] in
      RedisSession(
        configuration, subjects: { state.withLockedValue { Array($0.subjects) } }, receive: receive)
    }
    .whenComplete { [self] result in
      switch result {
      case .success(let channel):
        let isClosed = state.withLockedValue { state in
          (state.channel, state.waiting) = (channel, 0)
          return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [self] _ in
          state.withLockedValue { $0.channel = nil }
          again(receive)
        }
      case .failure(let error):
        receive(.disconnected("No connection with \(configuration.place): \(error)"))
        again(receive)
      }
    }
  }

  private func again(_ receive: @escaping @Sendable (CarrierEvent) -> Void) {
    loop.scheduleTask(in: .milliseconds(500)) { [weak self] in self?.connect(receive) }
  }

  /// Receives the payloads of a channel of this name.
  public func subscribe(to subject: String) {
    let channel = state.withLockedValue { state in
      state.subjects.insert(subject)
      return state.isReady ? state.channel : nil
    }
    channel?.send("SUBSCRIBE", subject)
  }

  /// Receives the payloads of the channel no longer.
  public func unsubscribe(from subject: String) {
    let channel = state.withLockedValue { state in
      state.subjects.remove(subject)
      return state.isReady ? state.channel : nil
    }
    channel?.send("UNSUBSCRIBE", subject)
  }

  /// Writes the payload to the connection, which sends it when the network can take it.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try publish(payload, to: subject, after: nil)
  }

  /// - Parameter command: A command that goes before, and with the payload or not at all.
  func publish(
    _ payload: ByteBuffer, to subject: String, after command: [ByteBuffer]?
  ) throws(CarrierError) {
    let size = payload.readableBytes
    guard size <= payloadLimit else { throw .tooLarge(bytes: size, limit: payloadLimit) }
    let waiting: Int?
    let channel: (any Channel)?
    (channel, waiting) = state.withLockedValue { state in
      guard state.isReady, let channel = state.channel else { return (nil, nil) }
      guard state.waiting + size <= configuration.waitingBytes else { return (nil, state.waiting) }
      state.waiting += size
      return (channel, nil)
    }
    if let waiting { throw .full(waiting: waiting) }
    guard let channel else { throw .disconnected }
    var bytes = channel.allocator.buffer(capacity: size + subject.utf8.count + 48)
    if let command { RESP.write(command, into: &bytes) }
    RESP.write(
      [ByteBuffer(staticString: "PUBLISH"), ByteBuffer(string: subject), payload], into: &bytes)
    channel.writeAndFlush(bytes).whenComplete { [state] _ in
      state.withLockedValue { state in
        if state.channel === channel { state.waiting -= size }
      }
    }
  }

  /// Sends what waits, for ten seconds at most, and closes the connection.
  public func close() async {
    let channel = state.withLockedValue { state in
      state.isClosed = true
      return state.channel
    }
    guard let channel else { return }
    let end = channel.eventLoop.makePromise(of: Void.self)
    let timeout = channel.eventLoop.scheduleTask(in: .seconds(10)) { end.succeed() }
    channel.eventLoop.execute {
      let session = try? channel.pipeline.syncOperations.handler(type: RedisSession.self)
      session?.finish(channel, end) ?? end.succeed()
    }
    try? await end.futureResult.get()
    timeout.cancel()
    try? await channel.close()
  }
}

extension Channel {
  fileprivate func send(_ words: String...) {
    var bytes = ByteBuffer()
    RESP.write(words.map { ByteBuffer(string: $0) }, into: &bytes)
    writeAndFlush(bytes, promise: nil)
  }
}

/// One connection, from its greeting to its end.
private final class RedisSession: ChannelInboundHandler {
  typealias InboundIn = RESP
  static let pause = TimeAmount.seconds(5)

  private let configuration: RedisCarrier.Configuration
  private let subjects: @Sendable () -> [String]
  private let receive: @Sendable (CarrierEvent) -> Void
  /// Why it ends, as far as it is known first.
  private var reason: String?
  private var isGreeted = false
  private var asked: Set<String> = []
  private var unanswered = 0
  private var isReady = false
  private var hasAnswered = true
  private var ping: RepeatedTask?
  private var finished: EventLoopPromise<Void>?

  init(
    _ configuration: RedisCarrier.Configuration, subjects: @escaping @Sendable () -> [String],
    receive: @escaping @Sendable (CarrierEvent) -> Void
  ) {
    self.configuration = configuration
    self.subjects = subjects
    self.receive = receive
  }

  func channelActive(context: ChannelHandlerContext) {
    send(configuration.greeting, context)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    ping = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.pause, delay: Self.pause) {
      _ in
      let (session, context) = bound.value
      guard session.hasAnswered else {
        return session.end(
          "The server at \(session.configuration.place) has not answered for 5 s.\(session.hint)",
          context)
      }
      session.hasAnswered = false
      session.send(["PING"], context)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    hasAnswered = true
    switch unwrapInboundIn(data) {
    case .push(let values) where values.count >= 3: pushed(values, context)
    case .error(let text):
      let refusal = "The server at \(configuration.place) refuses: \(text)"
      guard isGreeted else { return end(refusal, context) }
      receive(.problem(refusal))
      answered(context)
    case _ where !isGreeted:
      isGreeted = true
      subscribe(context)
      if unanswered == 0 { answered(context) }
    case .bytes: finished?.succeed()
    default: break  // the number of receivers of a payload, or the answer to a ping
    }
  }

  private func pushed(_ values: [RESP], _ context: ChannelHandlerContext) {
    switch values[0].text {
    case "message":
      if case .bytes(let payload) = values[2] { receive(.payload(payload)) }
    case "subscribe": answered(context)
    default: break
    }
  }

  private func subscribe(_ context: ChannelHandlerContext) {
    // One by one, because one that is refused takes all others of its command with it.
    for subject in subjects() where asked.insert(subject).inserted {
      unanswered += 1
      send(["SUBSCRIBE", subject], context)
    }
  }

  private func answered(_ context: ChannelHandlerContext) {
    unanswered -= 1
    guard unanswered <= 0, !isReady else { return }
    isReady = true
    receive(.connected)
    // What was subscribed to meanwhile. From now on, that is sent at once.
    subscribe(context)
  }

  private func send(_ words: [String], _ context: ChannelHandlerContext) {
    var bytes = ByteBuffer()
    RESP.write(words.map { ByteBuffer(string: $0) }, into: &bytes)
    context.writeAndFlush(NIOAny(bytes), promise: nil)
  }

  /// Completes a promise when the server has handled all that was written before, or the connection has ended.
  ///
  /// A connection that is closed while answers wait to be read is reset, and what the server has not read is lost.
  func finish(_ channel: any Channel, _ promise: EventLoopPromise<Void>) {
    guard channel.isActive else { return promise.succeed() }
    finished = promise
    channel.send("PING", "end")  // The answer is "end", and not that of other pings.
  }

  private func end(_ reason: String, _ context: ChannelHandlerContext) {
    self.reason = self.reason ?? reason
    context.close(promise: nil)
  }

  private var hint: String {
    if isGreeted { return "" }
    return configuration.isEncrypted
      ? " Perhaps it knows no TLS: redis://." : " Perhaps it wants TLS: rediss://."
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let reason = error is RESP.Malformed ? "It does not speak Redis's protocol." : "\(error)."
    // What TLS refuses it says itself.
    end(
      "The connection with \(configuration.place) is lost: \(reason)"
        + (configuration.isEncrypted ? "" : hint), context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    ping?.cancel()
    finished?.succeed()
    receive(
      .disconnected(
        reason ?? "The server at \(configuration.place) has closed the connection.\(hint)"))
  }
}
