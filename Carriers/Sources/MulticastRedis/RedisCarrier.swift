import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A carrier over the channels of a Redis or Valkey server, from Redis 6 on.
///
/// One connection in RESP3 publishes and receives. A ping each five seconds notices a server that stands
/// still.
public final class RedisCarrier: Carrier {
  /// Where the server is, and who asks.
  public struct Configuration: Sendable {
    /// The host.
    public var host: String
    /// The port.
    public var port: Int
    /// The user; nil for the default one.
    public var user: String?
    /// The password; nil for a server without one.
    public var password: String?
    /// What the connection is called in the server's lists.
    public var name: String
    /// The largest payload.
    public var payloadLimit = 1 << 20
    /// How many bytes may wait for the network.
    public var waitingBytes = 8 << 20

    /// Creates a configuration.
    ///
    /// - Parameter url: `redis://user:password@host:port`, of which the host is enough.
    /// - Throws: `InvalidURL`.
    public init(url: String, name: String = "multicast") throws {
      guard url.hasPrefix("redis://") else { throw InvalidURL(url: url) }
      let parts = url.dropFirst(8).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count <= 2, let place = parts.last?.split(separator: "/").first else {
        throw InvalidURL(url: url)
      }
      let address = place.split(separator: ":", omittingEmptySubsequences: false)
      guard address.count <= 2, !address[0].isEmpty,
        let port = address.count == 2 ? UInt16(address[1]) : 6_379
      else { throw InvalidURL(url: url) }
      host = String(address[0])
      self.port = Int(port)
      self.name = name
      guard parts.count == 2 else { return }
      let names = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      user = names[0].isEmpty ? nil : String(names[0])
      password = names.count == 2 ? String(names[1]) : nil
    }

    var greeting: [String] {
      var words = ["HELLO", "3"]
      if let password { words += ["AUTH", user ?? "default", password] }
      return words + ["SETNAME", name.filter { $0 != " " && $0 != "\n" }]
    }
  }

  /// An address that is none of a Redis server.
  public struct InvalidURL: Error, CustomStringConvertible {
    let url: String
    /// A sentence for whoever has configured it.
    public var description: String { "\(url) is no address like redis://user:password@host:port." }
  }

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
    let place = "\(configuration.host):\(configuration.port)"
    let receive: @Sendable (CarrierEvent) -> Void = { [weak self] event in
      switch event {
      case .connected: self?.state.withLockedValue { $0.isReady = true }
      case .disconnected: self?.state.withLockedValue { $0.isReady = false }
      default: break
      }
      receive(event)
    }
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(2))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            ByteToMessageHandler(RESPDecoder()),
            RedisSession(
              greeting: configuration.greeting, place: place,
              subjects: { [state] in state.withLockedValue { Array($0.subjects) } },
              receive: receive))
        }
      }
      .connect(host: configuration.host, port: configuration.port)
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
          receive(.disconnected("There is no Redis server at \(place): \(error)"))
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
    // What was written before this leaves before it.
    let end = channel.eventLoop.makePromise(of: Void.self)
    let timeout = channel.eventLoop.scheduleTask(in: .seconds(10)) { end.succeed() }
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in end.succeed() }
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

  private let greeting: [String]
  private let place: String
  private let subjects: @Sendable () -> [String]
  private let receive: @Sendable (CarrierEvent) -> Void
  private var reason = "The server has closed the connection."
  private var isGreeted = false
  private var asked: Set<String> = []
  private var unanswered = 0
  private var isReady = false
  private var hasAnswered = true
  private var ping: RepeatedTask?

  init(
    greeting: [String], place: String, subjects: @escaping @Sendable () -> [String],
    receive: @escaping @Sendable (CarrierEvent) -> Void
  ) {
    self.greeting = greeting
    self.place = place
    self.subjects = subjects
    self.receive = receive
  }

  func channelActive(context: ChannelHandlerContext) {
    send(greeting, context)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    ping = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.pause, delay: Self.pause) {
      _ in
      let (session, context) = bound.value
      guard session.hasAnswered else {
        session.reason = "The server at \(session.place) has not answered for 5 s."
        return context.close(promise: nil)
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
      guard isGreeted else {
        reason = "The server at \(place) refuses: \(text)"
        return context.close(promise: nil)
      }
      receive(.problem("The server at \(place) refuses: \(text)"))
      answered(context)
    case _ where !isGreeted:
      isGreeted = true
      subscribe(context)
      if unanswered == 0 { answered(context) }
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

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    reason = "\(error)"
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    ping?.cancel()
    receive(.disconnected(reason))
  }
}
