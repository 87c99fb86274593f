import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Closes a connection that does not bring a whole request in time, however often it brings a byte.
final class RequestTimeout: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let time: TimeAmount
  private var deadline: Scheduled<Void>?
  /// How many whole requests wait for the end of their answers. A stream's comes when the browser goes.
  private var unanswered = 0

  init(_ time: TimeAmount) { self.time = time }

  func handlerAdded(context: ChannelHandlerContext) { waitForRequest(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .end = unwrapInboundIn(data) {
      unanswered += 1
      deadline?.cancel()
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
    deadline?.cancel()
    context.fireChannelInactive()
  }

  private func waitForRequest(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
      context.close(promise: nil)
    }
  }
}
