import DequeModule
import MulticastCarrier
import NIOCore
import NIOPosix
import NIOSSL

/// What a server answers, in RESP2.
enum Reply: Sendable {
  case bytes(ByteBuffer)
  case list([Reply])
  case null
  case error(String)

  var text: String? { if case .bytes(let bytes) = self { String(buffer: bytes) } else { nil } }
  var list: [Reply] { if case .list(let list) = self { list } else { [] } }
}

/// Gives answers to who waits for them, in the order of the commands. On the connection's thread.
private final class Answers: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  struct Failure: Error, CustomStringConvertible {
    var description = "It does not answer as Redis does."
  }

  var waiting: Deque<EventLoopPromise<Reply>> = []
  var lastAnswer = NIODeadline.now()
  private var buffer = ByteBuffer()
  /// Why the connection has ended.
  var reason: String?
  private let hear: RedisConnection.Hear?

  init(hear: RedisConnection.Hear?) { self.hear = hear }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var part = unwrapInboundIn(data)
    buffer.writeBuffer(&part)
    lastAnswer = .now()
    do {
      var rest = buffer
      while let reply = try read(&rest) {
        buffer = rest
        take(reply)
      }
      buffer.discardReadBytes()
    } catch { errorCaught(context: context, error: error) }
  }

  private func take(_ reply: Reply) {
    guard let hear, reply.list.count == 3, reply.list[0].text == "message",
      case .bytes(let channel) = reply.list[1], case .bytes(let content) = reply.list[2]
    else { return waiting.popFirst()?.succeed(reply) ?? () }
    hear(channel, content)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    reason = "\(error)"
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    let error = CarrierError.disconnected(reason ?? "The connection was lost.")
    while let answer = waiting.popFirst() { answer.fail(error) }
  }

  /// Takes a reply out of bytes; nil if it is not complete.
  private func read(_ bytes: inout ByteBuffer, depth: Int = 0) throws -> Reply? {
    let start = bytes.readableBytesView.prefix(1 << 16)
    guard let end = start.firstIndex(of: UInt8(ascii: "\n")) else {
      if start.count < 1 << 16 { return nil }
      throw Failure()
    }
    let line = bytes.readString(length: end + 1 - start.startIndex)?.dropLast() ?? ""
    let rest = line.dropFirst()
    switch line.first {
    case "+", ":": return .bytes(ByteBuffer(substring: rest))
    case "-": return .error(String(rest))
    case "$",
      "*" where depth < 8:
      guard let size = Int(rest), size <= 1 << 30 else { throw Failure() }
      if size < 0 { return .null }
      if line.first == "$" {
        guard bytes.readableBytes >= size + 2 else { return nil }
        defer { bytes.moveReaderIndex(forwardBy: 2) }
        return bytes.readSlice(length: size).map(Reply.bytes)
      }
      var list: [Reply] = []
      while list.count < size, let reply = try read(&bytes, depth: depth + 1) { list.append(reply) }
      return list.count == size ? .list(list) : nil
    default: throw Failure()
    }
  }
}

/// A connection on which commands are answered one after the other, and messages come in between.
struct RedisConnection: Sendable {
  /// Is told of each message of publish and subscribe: its channel and its contents.
  typealias Hear = @Sendable (ByteBuffer, ByteBuffer) -> Void

  private let channel: any Channel
  private let answers: NIOLoopBound<Answers>

  /// Connects, and says who asks.
  static func connect(_ own: RedisConfiguration, hear: Hear? = nil) async throws -> Self {
    let connection: Self
    do {
      connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(2))
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connect(host: own.host, port: own.port) { channel in
          channel.eventLoop.makeCompletedFuture {
            let answers = Answers(hear: hear)
            let pipeline = channel.pipeline.syncOperations
            if own.isEncrypted { try pipeline.addHandler(encryption(own)) }
            try pipeline.addHandler(answers)
            let bound = NIOLoopBound(answers, eventLoop: channel.eventLoop)
            return Self(channel: channel, answers: bound)
          }
        }
    } catch { throw CarrierError.disconnected("\(own.host):\(own.port): \(error)") }
    connection.watch()
    var greeting: [[String]] = []
    if let password = own.password {
      greeting.append(["AUTH", own.user, password].compactMap(\.self))
    }
    if own.database != 0 { greeting.append(["SELECT", "\(own.database)"]) }
    let replies = try await connection.send(greeting + [["CLIENT", "SETNAME", own.name]])
    // It may do without a name.
    for case .error(let reason) in replies.dropLast() {
      connection.close()
      throw CarrierError.disconnected(reason)
    }
    return connection
  }

  /// Asks once a second, so that who only listens notices a server that stands still.
  private func watch() {
    let watch = channel.eventLoop.scheduleRepeatedTask(
      initialDelay: .seconds(1), delay: .seconds(1)
    ) { _ in
      if NIODeadline.now() - answers.value.lastAnswer < .seconds(5) {
        Task { try await send([["PING"]]) }
      } else {
        channel.pipeline.fireErrorCaught(Answers.Failure(description: "No answer for 5 s."))
      }
    }
    channel.closeFuture.whenComplete { _ in watch.cancel() }
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
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: tls), serverHostname: isAddress ? nil : own.host)
  }

  /// Sends commands together, and returns their answers.
  ///
  /// - Parameter last: One more word of the last command.
  @discardableResult
  func send(_ commands: [[String]], _ last: [UInt8]? = nil) async throws -> [Reply] {
    var bytes = ByteBuffer()
    for (index, command) in commands.enumerated() {
      let last = index == commands.count - 1 ? last : nil
      bytes.writeString("*\(command.count + (last == nil ? 0 : 1))\r\n")
      for word in command { bytes.writeString("$\(word.utf8.count)\r\n\(word)\r\n") }
      guard let last else { continue }
      bytes.writeString("$\(last.count)\r\n")
      bytes.writeBytes(last)
      bytes.writeString("\r\n")
    }
    let promises = commands.map { _ in channel.eventLoop.makePromise(of: Reply.self) }
    // On its own thread: so the answers come in the order of the commands.
    channel.eventLoop.execute { [bytes] in
      answers.value.waiting += promises
      channel.writeAndFlush(bytes).whenFailure { error in
        let error = CarrierError.disconnected(answers.value.reason ?? "\(error)")
        for promise in promises { promise.fail(error) }
      }
    }
    let replies = promises.map(\.futureResult)
    return try await EventLoopFuture.whenAllSucceed(replies, on: channel.eventLoop).get()
  }

  /// Calls a body when it has ended.
  func whenClosed(_ body: @escaping @Sendable () -> Void) {
    channel.closeFuture.whenComplete { _ in body() }
  }

  func close() { channel.close(promise: nil) }
}
