import DequeModule
import MulticastCarrier
import NIOCore
import NIOPosix
import NIOSSL

/// Gives answers to who waits for them, in the order of the commands. On the connection's thread.
private final class Answers: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private typealias Answer = Result<RedisConnection.Words, any Error>

  var waiting: Deque<EventLoopPromise<RedisConnection.Words>> = []
  var lastAnswer = NIODeadline.now()
  /// Why the connection has ended.
  var error: CarrierError?
  private var buffer = ByteBuffer()
  private weak var session: RedisSession?

  init(_ session: RedisSession?) { self.session = session }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var part = unwrapInboundIn(data)
    buffer.writeBuffer(&part)
    lastAnswer = .now()
    do {
      var rest = buffer
      while let answer = try read(&rest) {
        buffer = rest
        if case .success(let words) = answer, words.count == 3, words.text(0) == "message",
          let channel = words[1], let content = words[2]
        {
          session?.hear(channel, content)
        } else {
          waiting.popFirst()?.completeWith(answer)
        }
      }
      buffer.discardReadBytes()
    } catch { errorCaught(context: context, error: error) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    self.error = self.error ?? error as? CarrierError ?? .disconnected("\(error)")
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    let error = error ?? .disconnected("The connection was lost.")
    session?.end(error)
    while let answer = waiting.popFirst() { answer.fail(error) }
  }

  /// Takes an answer out of bytes; nil if it is not complete.
  private func read(_ bytes: inout ByteBuffer) throws -> Answer? {
    var words: RedisConnection.Words = []
    var missing = 1
    while missing > 0 {
      missing -= 1
      let start = bytes.readableBytesView.prefix(1 << 16)
      guard let end = start.firstIndex(of: UInt8(ascii: "\n")) else {
        if start.count < 1 << 16 { return nil }
        throw CarrierError.disconnected("The server has answered without an end.")
      }
      let line = bytes.readString(length: end + 1 - start.startIndex)?.dropLast() ?? ""
      let rest = line.dropFirst()
      switch (line.first, Int(rest)) {
      case ("-", _) where words.isEmpty && missing == 0:
        return .failure(CarrierError.refused(String(rest)))
      case ("+", _), (":", _), ("-", _): words.append(ByteBuffer(substring: rest))
      case ("$", -1), ("*", -1): words.append(nil)
      case ("$", let size?) where (0...1 << 30).contains(size):
        guard bytes.readableBytes >= size + 2 else { return nil }
        words.append(bytes.readSlice(length: size))
        bytes.moveReaderIndex(forwardBy: 2)
      case ("*", let size?) where (0...1 << 20).contains(size): missing += size
      default: throw CarrierError.disconnected("The server does not answer as Redis does.")
      }
    }
    return .success(words)
  }
}

extension RedisConnection.Words {
  /// The text of a word; empty if it is not there.
  func text(_ index: Int) -> String {
    indices.contains(index) ? self[index].map { String(buffer: $0) } ?? "" : ""
  }
}

/// A connection on which commands are answered one after the other, and messages come in between.
struct RedisConnection: Sendable {
  /// What a server answers, lists in lists made flat; nil for what is not there.
  typealias Words = [ByteBuffer?]
  private let channel: any Channel
  private let answers: NIOLoopBound<Answers>

  /// Connects, and says who asks.
  ///
  /// - Parameter session: Is told what is heard, and why the connection has ended.
  static func connect(_ own: RedisConfiguration, for session: RedisSession?) async throws -> Self {
    let connection: Self
    do {
      connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(2))
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connect(host: own.host, port: own.port) { channel in
          channel.eventLoop.makeCompletedFuture {
            let answers = Answers(session)
            let pipeline = channel.pipeline.syncOperations
            if own.url.scheme == "rediss" { try pipeline.addHandler(encryption(own)) }
            try pipeline.addHandler(answers)
            let bound = NIOLoopBound(answers, eventLoop: channel.eventLoop)
            return Self(channel: channel, answers: bound)
          }
        }
    } catch { throw CarrierError.disconnected("\(own.host):\(own.port): \(error)") }
    let channel = connection.channel
    // So who only listens notices a server that stands still.
    let watch = channel.eventLoop.scheduleRepeatedTask(
      initialDelay: .seconds(1), delay: .seconds(1)
    ) { [weak session] _ in
      if NIODeadline.now() - connection.answers.value.lastAnswer < .seconds(5) {
        Task { try await connection.send(["PING"]) }
        session?.sweep()
      } else {
        connection.fail("The server has not answered for 5 s.")
      }
    }
    channel.closeFuture.whenComplete { _ in watch.cancel() }
    do {
      let credentials = [own.url.user, own.url.password].compactMap(\.self).filter { !$0.isEmpty }
      if !credentials.isEmpty { try await connection.send(["AUTH"] + credentials) }
      if own.url.path.count > 1 {
        try await connection.send(["SELECT", String(own.url.path.dropFirst())])
      }
    } catch CarrierError.refused(let reason) {
      connection.fail(reason)
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
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: tls), serverHostname: isAddress ? nil : own.host)
  }

  /// Sends a command, and returns its answer.
  ///
  /// - Parameter last: One more word of the command.
  @discardableResult
  func send(_ command: [String], _ last: [UInt8]? = nil) async throws -> Words {
    var bytes = ByteBuffer(string: "*\(command.count + (last == nil ? 0 : 1))\r\n")
    func write(_ word: some Collection<UInt8>) {
      bytes.writeString("$\(word.count)\r\n")
      bytes.writeBytes(word)
      bytes.writeString("\r\n")
    }
    for word in command { write(word.utf8) }
    if let last { write(last) }
    let answer = channel.eventLoop.makePromise(of: Words.self)
    // On its own thread: so the answers come in the order of the commands.
    channel.eventLoop.execute { [bytes] in
      answers.value.waiting.append(answer)
      channel.writeAndFlush(bytes).whenFailure {
        answer.fail(answers.value.error ?? .disconnected("\($0)"))
      }
    }
    return try await answer.futureResult.get()
  }

  private func fail(_ reason: String) {
    channel.pipeline.fireErrorCaught(CarrierError.disconnected(reason))
  }

  func close() { channel.close(promise: nil) }
}
