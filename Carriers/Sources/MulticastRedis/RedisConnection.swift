import DequeModule
import MulticastCarrier
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// What a server answers, in RESP2.
enum Reply: Sendable, Equatable {
  case bytes(ByteBuffer)
  case number(Int64)
  case list([Reply])
  case null
  case error(String)

  struct Malformed: Error {}

  var text: String? { if case .bytes(let bytes) = self { String(buffer: bytes) } else { nil } }
  var list: [Reply] { if case .list(let list) = self { list } else { [] } }

  /// Takes a reply out of bytes; nil if it is not complete.
  static func read(_ bytes: inout ByteBuffer, depth: Int = 0) throws -> Reply? {
    guard depth < 8 else { throw Malformed() }
    let view = bytes.readableBytesView
    guard let end = view.prefix(1 << 16).firstIndex(of: UInt8(ascii: "\r")), end + 1 < view.endIndex
    else {
      if view.count > 1 << 16 { throw Malformed() }
      return nil
    }
    let line = bytes.readString(length: end - view.startIndex) ?? ""
    bytes.moveReaderIndex(forwardBy: 2)
    let rest = line.dropFirst()
    switch line.first {
    case "+": return .bytes(ByteBuffer(substring: rest))
    case "-": return .error(String(rest))
    case ":": return .number(Int64(rest) ?? 0)
    case "$":
      guard let count = Int(rest), count <= 1 << 30 else { throw Malformed() }
      guard count >= 0 else { return .null }
      guard bytes.readableBytes >= count + 2, let content = bytes.readSlice(length: count) else {
        return nil
      }
      bytes.moveReaderIndex(forwardBy: 2)
      return .bytes(content)
    case "*":
      guard let count = Int(rest), count <= 1 << 20 else { throw Malformed() }
      guard count >= 0 else { return .null }
      var list: [Reply] = []
      for _ in 0..<count {
        guard let reply = try read(&bytes, depth: depth + 1) else { return nil }
        list.append(reply)
      }
      return .list(list)
    default: throw Malformed()
    }
  }
}

/// A connection on which commands are answered one after the other, and messages come in between.
///
/// What is not answered within five seconds ends it.
final class RedisConnection: Sendable {
  private typealias Waiting = (done: EventLoopPromise<Reply>, since: NIODeadline)

  private let channel: any Channel
  private let waiting: Mailbox

  private init(_ channel: any Channel, _ waiting: Mailbox) {
    (self.channel, self.waiting) = (channel, waiting)
  }

  /// Connects, and says who asks.
  ///
  /// - Parameters:
  ///   - hear: Is told of each message of publish and subscribe: its channel and its contents.
  ///   - end: Is told once why the connection has ended.
  static func connect(
    _ configuration: RedisConfiguration,
    hear: @escaping @Sendable (ByteBuffer, ByteBuffer) -> Void = { _, _ in },
    end: @escaping @Sendable (String) -> Void
  ) async throws -> RedisConnection {
    let waiting = Mailbox()
    let channel: any Channel
    do {
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(2))
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if configuration.isEncrypted { try pipeline.addHandler(encryption(configuration)) }
            try pipeline.addHandlers(
              ByteToMessageHandler(Decoder()), Reader(waiting, hear: hear, end: end))
          }
        }
        .connect(host: configuration.host, port: configuration.port).get()
    } catch {
      throw CarrierError.disconnected("\(configuration.host):\(configuration.port): \(error)")
    }
    let connection = RedisConnection(channel, waiting)
    let timer = channel.eventLoop.scheduleRepeatedTask(
      initialDelay: .seconds(1), delay: .seconds(1)
    ) { [weak connection] _ in connection?.check() }
    channel.closeFuture.whenComplete { _ in timer.cancel() }
    var greeting = [["CLIENT", "SETNAME", configuration.name]]
    if let password = configuration.password {
      greeting.insert(["AUTH"] + (configuration.user.map { [$0] } ?? []) + [password], at: 0)
    }
    if configuration.database != 0 { greeting.append(["SELECT", "\(configuration.database)"]) }
    for case .error(let reason) in try await connection.send(greeting) {
      connection.close()
      throw CarrierError.disconnected(reason)
    }
    return connection
  }

  private static func encryption(_ own: RedisConfiguration) throws -> NIOSSLClientHandler {
    var tls = TLSConfiguration.makeClientConfiguration()
    if let file = own.certificateAuthority { tls.trustRoots = .file(file) }
    if let (chain, key) = own.certificate {
      tls.certificateChain = try NIOSSLCertificate.fromPEMFile(chain).map { .certificate($0) }
      tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
    }
    // A certificate names an address as such, and not as a host.
    let isAddress = (try? SocketAddress(ipAddress: own.host, port: own.port)) != nil
    let context: NIOSSLContext
    do { context = try NIOSSLContext(configuration: tls) } catch {
      throw CarrierError.disconnected("\(own.certificateAuthority ?? "TLS"): \(error)")
    }
    return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : own.host)
  }

  /// Sends commands together, and returns their answers.
  func send(_ commands: [[String]], _ last: [UInt8]? = nil) async throws -> [Reply] {
    let promises = commands.map { _ in channel.eventLoop.makePromise(of: Reply.self) }
    var bytes = ByteBuffer()
    for (index, command) in commands.enumerated() {
      let extra = index == commands.count - 1 ? last : nil
      bytes.writeString("*\(command.count + (extra == nil ? 0 : 1))\r\n")
      for word in command { bytes.writeString("$\(word.utf8.count)\r\n\(word)\r\n") }
      guard let extra else { continue }
      bytes.writeString("$\(extra.count)\r\n")
      bytes.writeBytes(extra)
      bytes.writeString("\r\n")
    }
    // On its own thread: so the answers come in the order of the commands, and it knows whether it has ended.
    channel.eventLoop.execute { [channel, waiting, bytes] in
      guard channel.isActive else {
        return promises.forEach { $0.fail(CarrierError.disconnected("The connection has ended.")) }
      }
      waiting.all.withLock { $0 += promises.map { ($0, .now() + .seconds(5)) } }
      channel.writeAndFlush(bytes, promise: nil)
    }
    var replies: [Reply] = []
    for promise in promises { replies.append(try await promise.futureResult.get()) }
    return replies
  }

  /// Ends it if an answer is overdue. Asks where nobody does: so who only listens notices a server that stands still.
  private func check() {
    let (isOverdue, isIdle) = waiting.all.withLock { all in
      (all.first.map { $0.end < .now() } ?? false, all.isEmpty)
    }
    if isIdle { Task { try await send([["PING"]]) } }
    if isOverdue {
      channel.pipeline.fireErrorCaught(
        CarrierError.disconnected("The server has not answered for 5 s."))
    }
  }

  func close() { channel.close(promise: nil) }

  /// Who waits for answers, in their order.
  private final class Mailbox: Sendable {
    let all = Mutex<Deque<(done: EventLoopPromise<Reply>, end: NIODeadline)>>([])
  }

  private struct Decoder: ByteToMessageDecoder {
    typealias InboundOut = Reply
    mutating func decode(
      context: ChannelHandlerContext, buffer: inout ByteBuffer
    ) throws -> DecodingState {
      var rest = buffer
      guard let reply = try Reply.read(&rest) else { return .needMoreData }
      buffer = rest
      context.fireChannelRead(wrapInboundOut(reply))
      return .continue
    }
  }

  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = Reply
    private let waiting: Mailbox
    private let hear: @Sendable (ByteBuffer, ByteBuffer) -> Void
    private let end: @Sendable (String) -> Void
    private var reason: String?

    init(
      _ waiting: Mailbox, hear: @escaping @Sendable (ByteBuffer, ByteBuffer) -> Void,
      end: @escaping @Sendable (String) -> Void
    ) { (self.waiting, self.hear, self.end) = (waiting, hear, end) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let reply = unwrapInboundIn(data)
      if case .list(let list) = reply, list.count == 3, list[0].text == "message",
        case .bytes(let channel) = list[1], case .bytes(let content) = list[2]
      {
        return hear(channel, content)
      }
      waiting.all.withLock { $0.popFirst() }?.done.succeed(reply)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if reason == nil {
        reason = if case CarrierError.disconnected(let text) = error { text } else { "\(error)" }
      }
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      let reason = reason ?? "The connection was lost."
      let old = waiting.all.withLock { all in
        defer { all = [] }
        return all
      }
      for (done, _) in old { done.fail(CarrierError.disconnected(reason)) }
      end(reason)
    }
  }
}
