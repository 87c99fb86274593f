import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A connection that asks one thing after the other.
final class RedisQuery: Sendable {
  /// Why there is no answer; where the server has refused, in its own words.
  struct Refusal: Error, CustomStringConvertible {
    let description: String
    static let closed = Refusal(description: "The connection was closed before the answer came.")
  }

  private let channel: any Channel
  private let answers: Answers

  private init(_ channel: any Channel, _ answers: Answers) {
    self.channel = channel
    self.answers = answers
  }

  static func connect(_ configuration: RedisCarrier.Configuration) async throws -> RedisQuery {
    let answers = Answers()
    let channel = try await configuration.connect(on: MultiThreadedEventLoopGroup.singleton) {
      Reader(answers)
    }.get()
    let query = RedisQuery(channel, answers)
    do { try await query.ask(configuration.greeting) } catch {
      query.close()
      throw error
    }
    return query
  }

  /// Sends commands at once, and waits for the last answer, for five seconds at most. Throws the first refusal.
  @discardableResult
  func ask(_ commands: [String]...) async throws -> RESP {
    let promises = commands.map { _ in channel.eventLoop.makePromise(of: RESP.self) }
    let answered = EventLoopFuture.whenAllSucceed(
      promises.map(\.futureResult), on: channel.eventLoop)
    let timeout = channel.eventLoop.scheduleTask(in: .seconds(5)) { [channel] in
      channel.pipeline.fireErrorCaught(
        Refusal(description: "The server has not answered for 5 s."))
    }
    // Here the task that waits may come much later, and would lose a connection on which all was answered.
    answered.whenComplete { _ in timeout.cancel() }
    var bytes = ByteBuffer()
    for command in commands { RESP.write(command.map { ByteBuffer(string: $0) }, into: &bytes) }
    // On its own thread, which knows whether it has ended.
    channel.eventLoop.execute { [channel, answers, bytes] in
      guard channel.isActive else { return promises.forEach { $0.fail(Refusal.closed) } }
      answers.waiting.withLockedValue { $0 += promises }
      channel.writeAndFlush(bytes, promise: nil)
    }
    let all = try await answered.get()
    for case .error(let text) in all { throw Refusal(description: text) }
    return all.last ?? .null
  }

  func close() { channel.close(promise: nil) }

  private final class Answers: Sendable {
    let waiting = NIOLockedValueBox<[EventLoopPromise<RESP>]>([])
  }

  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = RESP
    private let answers: Answers
    private var reason: (any Error)?
    init(_ answers: Answers) { self.answers = answers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let answer = unwrapInboundIn(data)
      answers.waiting.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }?.succeed(answer)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      reason = reason ?? error
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      let waiting = answers.waiting.withLockedValue { waiting in
        defer { waiting = [] }
        return waiting
      }
      for promise in waiting { promise.fail(reason ?? Refusal.closed) }
    }
  }
}
