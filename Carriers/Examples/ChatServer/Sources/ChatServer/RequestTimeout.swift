import Hummingbird
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Connections that have not sent a whole request yet, in the order in which they began to wait.
final class SlowConnections: Sendable {
  /// A connection that waits for a shorter time is not slow.
  static let patience = TimeAmount.seconds(1)

  private let limit: Int
  private let waiting = Mutex<[(channel: any Channel, since: NIODeadline)]>([])

  /// - Parameter limit: The number of slow connections. Beyond it, the ones that have waited longest are closed.
  init(limit: Int) { self.limit = limit }

  func add(_ channel: any Channel, at now: NIODeadline = .now()) {
    let ended = waiting.withLock { waiting in
      waiting.append((channel, now))
      let isDue = waiting.prefix { now - $0.since > SlowConnections.patience }.count
      let ended = waiting.prefix(min(isDue, max(0, waiting.count - limit))).map(\.channel)
      waiting.removeFirst(ended.count)
      return ended
    }
    for channel in ended { channel.close(promise: nil) }
  }

  func remove(_ channel: any Channel) {
    waiting.withLock { $0.removeAll { $0.channel === channel } }
  }
}

/// Closes a connection that does not send a whole request in time, however often it sends a byte.
final class RequestTimeout: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let time: TimeAmount
  private let slow: SlowConnections
  private var deadline: Scheduled<Void>?
  /// The number of whole requests that wait for the end of their answers. A stream's answer ends when the browser
  /// disconnects.
  private var unanswered = 0

  init(_ time: TimeAmount, _ slow: SlowConnections) { (self.time, self.slow) = (time, slow) }

  func handlerAdded(context: ChannelHandlerContext) { waitForRequest(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .end = unwrapInboundIn(data) {
      unanswered += 1
      // A request that was answered before its end leaves none to answer. Then the connection waits for the next one already.
      if unanswered > 0 { stopWaiting(context) }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      unanswered -= 1
      if unanswered <= 0 { waitForRequest(context) }
    }
    context.write(data, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stopWaiting(context)
    context.fireChannelInactive()
  }

  private func waitForRequest(_ context: ChannelHandlerContext) {
    stopWaiting(context)
    slow.add(context.channel)
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
      context.close(promise: nil)
    }
  }

  private func stopWaiting(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    slow.remove(context.channel)
  }
}
