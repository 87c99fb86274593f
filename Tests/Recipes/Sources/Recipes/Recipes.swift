import Metrics
import Multicast
import NIOCore
import Tracing

/// A timer of deliveries and a counter of calls
/// for each protocol and topic.
@Sendable func measure(_ event: DeliveryEvent) {
  guard
    case .ended(let clients, let nanoseconds) = event.phase
  else { return }
  let key = [("key", event.key)]
  Timer(label: "multicast.delivery", dimensions: key)
    .recordNanoseconds(Int64(nanoseconds))
  Counter(label: "multicast.calls", dimensions: key)
    .increment(by: clients)
}

func makeMeasuredCenter() -> MulticastCenter {
  MulticastCenter(onDelivery: measure)
}

/// A span for each pass of a delivery,
/// in the context of its sender.
@Sendable func trace(_ event: DeliveryEvent) {
  guard
    case .ended(let clients, let nanoseconds) = event.phase
  else { return }
  let end = DefaultTracerClock.now
  let start = DefaultTracerClock.Timestamp(
    nanosecondsSinceEpoch:
      end.nanosecondsSinceEpoch - nanoseconds)
  let span = startSpan(
    "\(event.way) \(event.key)", at: start)
  span.attributes["multicast.clients"] = clients
  span.attributes["multicast.home"] = event.home
  span.end(at: end)
}

func makeTracedCenter() -> MulticastCenter {
  MulticastCenter(
    onDelivery: trace,
    carrying: CarriedValue(ServiceContext.$current))
}

/// Runs the jobs of actors in an event loop of NIO.
final class EventLoopExecutor: LoopExecutor {
  let loop: any EventLoop
  init(_ loop: any EventLoop) { self.loop = loop }

  var isCurrent: Bool { loop.inEventLoop }
  func schedule(_ work: @escaping @Sendable () -> Void) {
    loop.execute(work)
  }
}
