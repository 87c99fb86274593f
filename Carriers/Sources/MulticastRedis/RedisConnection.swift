import DequeModule
import MulticastCarrier
import NIOCore
import NIOPosix
import NIOSSL

/// The answer of a server, with nested lists flattened; nil for a missing value.
typealias Words = [ByteBuffer?]

extension Words {
  /// Returns the text of a word, or an empty text if it is missing.
  func text(_ index: Int) -> String {
    indices.contains(index) ? self[index].map { String(buffer: $0) } ?? "" : ""
  }
}

/// A connection to a server that speaks RESP. All that knows the protocol or the network is behind it.
///
/// A connection passes each published message to ``RedisSession/hear(_:_:)``, and sends a ping to a silent server. When it
/// ends, it calls ``RedisSession/end(_:)``, and ``RedisSession/timeOut()`` before if the server was silent for too long.
protocol RESPConnection: Sendable {
  /// Sends a command, and returns its answer.
  ///
  /// - Parameter last: One more word of the command.
  /// - Throws: `CarrierError.refused` with the server's words, or `CarrierError.disconnected`.
  @discardableResult
  func ask(_ command: [String], _ last: [UInt8]?) async throws -> Words
  func close()
}

/// A connection on SwiftNIO, which answers commands in order, with published messages in between.
final class RedisConnection: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = (command: ByteBuffer, answer: EventLoopPromise<Words>)
  typealias OutboundOut = ByteBuffer

  /// The commands that wait for answers, in order.
  private var waiting: Deque<EventLoopPromise<Words>> = []
  private var buffer = ByteBuffer()
  /// The part of an answer that has been read. An answer of many words arrives in many parts, and to read it from its
  /// beginning each time would take the square of its length.
  private var answer = Answer()
  /// Receives published messages and the end of the connection.
  private weak var session: RedisSession?
  private let patience: Duration
  /// Whether the server was asked for a sign of life, and has sent nothing since.
  private var isPinged = false
  /// The passwords that the server may repeat, which no report may contain.
  private let secrets: [String]
  /// The largest number of bytes in an answer: the records that were asked for, or one of the largest size.
  private let limit: Int

  private struct Answer {
    var words: Words = []
    /// The number of words that are missing.
    var missing = 1
    /// The number of bytes that were read.
    var size = 0
  }

  init(_ session: RedisSession?, _ own: RedisConfiguration, _ patience: Duration) {
    (self.session, self.patience) = (session, patience)
    secrets = own.url.secrets
    limit = own.recordLimit + (4 << 20)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let (command, answer) = unwrapOutboundIn(data)
    waiting.append(answer)
    context.write(wrapOutboundOut(command), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isPinged = false
    var part = unwrapInboundIn(data)
    buffer.writeBuffer(&part)
    do {
      while let answer = try read() {
        if case .success(let words) = answer, words.count == 3, words.text(0) == "message",
          let channel = words[1], let content = words[2]
        {
          session?.hear(channel, content)
        } else {
          waiting.popFirst()?.completeWith(answer)
        }
      }
      buffer.discardReadBytes()
      if answer.size + buffer.readableBytes > limit {
        throw CarrierError.disconnected("The server has answered with more than \(limit) bytes.")
      }
    } catch { errorCaught(context: context, error: error) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is IdleStateHandler.IdleStateEvent else { return }
    // The ping is sent from here, so that a program that blocks Swift's pool does not lose its connections.
    guard isPinged else {
      isPinged = true
      waiting.append(context.eventLoop.makePromise())
      let ping = ByteBuffer(string: "*1\r\n$4\r\nPING\r\n")
      return context.writeAndFlush(wrapOutboundOut(ping), promise: nil)
    }
    session?.timeOut()
    let error = CarrierError.disconnected("The server has not answered for \(patience).")
    errorCaught(context: context, error: error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    errorCaught(context: context, error: CarrierError.disconnected("The connection was lost."))
  }

  /// Ends the session, unless it has ended before.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let error = error as? CarrierError ?? .disconnected("\(error)")
    session?.end(error)
    while let answer = waiting.popFirst() { answer.fail(error) }
    context.close(promise: nil)
  }

  /// Reads words from the buffer. Returns an answer that is complete, and nil if words are missing.
  private func read() throws -> Result<Words, any Error>? {
    while answer.missing > 0 {
      // A word stays in the buffer until it has arrived as a whole.
      var rest = buffer
      let start = rest.readableBytesView.prefix(1 << 16)
      guard let end = start.firstIndex(of: UInt8(ascii: "\n")) else {
        if start.count < 1 << 16 { return nil }
        throw CarrierError.disconnected("The server has answered without an end.")
      }
      let line = rest.readString(length: end + 1 - start.startIndex)?.dropLast() ?? ""
      let text = line.dropFirst()
      switch (line.first, Int(text)) {
      case ("-", _) where answer.words.isEmpty && answer.missing == 1:
        (buffer, answer) = (rest, Answer())
        return .failure(CarrierError.refused(String(text)).without(secrets))
      case ("+", _), (":", _), ("-", _): answer.words.append(ByteBuffer(substring: text))
      case ("$", -1), ("*", -1): answer.words.append(nil)
      case ("$", let size?) where (0...limit).contains(size):
        guard rest.readableBytes >= size + 2 else { return nil }
        answer.words.append(rest.readSlice(length: size))
        rest.moveReaderIndex(forwardBy: 2)
      case ("*", let size?) where (0...1 << 16).contains(size): answer.missing += size
      default: throw CarrierError.disconnected("The server does not answer as Redis does.")
      }
      answer.missing -= 1
      answer.size += buffer.readableBytes - rest.readableBytes
      buffer = rest
    }
    defer { answer = Answer() }
    return .success(answer.words)
  }

  /// Connects, and sends the credentials.
  static func connect(
    _ own: RedisConfiguration, for session: RedisSession?, on loop: any EventLoop,
    _ patience: Duration
  ) async throws -> any RESPConnection {
    let channel = try await ClientBootstrap(group: loop)
      .connectTimeout(.seconds(2))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // When it is closed, the system must not go on sending for minutes: what is left was sent again by then.
          _ = (channel as? any SocketOptionProvider)?
            .setSoLinger(linger(l_onoff: 1, l_linger: 0))
          let pipeline = channel.pipeline.syncOperations
          if own.url.scheme == "rediss" { try pipeline.addHandler(encryption(own)) }
          try pipeline.addHandler(IdleStateHandler(readTimeout: .init(patience / 2)))
          try pipeline.addHandler(RedisConnection(session, own, patience))
        }
      }
      .connect(host: own.host, port: own.port).get()
    let connection: any RESPConnection = Connection(channel: channel)
    do {
      let credentials = [own.url.user, own.url.password].compactMap(\.self).filter { !$0.isEmpty }
      if !credentials.isEmpty { try await connection.ask(["AUTH"] + credentials, nil) }
      if own.url.path.count > 1 {
        try await connection.ask(["SELECT", String(own.url.path.dropFirst())], nil)
      }
    } catch CarrierError.refused(let reason) {
      let error = CarrierError.disconnected(reason)
      channel.pipeline.fireErrorCaught(error)
      throw error
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
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: tls), serverHostname: isAddress ? nil : own.host)
  }
}

private struct Connection: RESPConnection {
  let channel: any Channel

  func close() { channel.close(promise: nil) }

  func ask(_ command: [String], _ last: [UInt8]?) async throws -> Words {
    let words = command.map { Array($0.utf8) } + [last].compactMap(\.self)
    var bytes = ByteBuffer(string: "*\(words.count)\r\n")
    for word in words {
      bytes.writeString("$\(word.count)\r\n")
      bytes.writeBytes(word + Array("\r\n".utf8))
    }
    let answer = channel.eventLoop.makePromise(of: Words.self)
    channel.writeAndFlush((command: bytes, answer: answer)).whenFailure {
      answer.fail(CarrierError.disconnected("\($0)"))
    }
    return try await answer.futureResult.get()
  }
}
