import Metrics
import Multicast

/// A timer of deliveries and a counter of calls for each protocol and topic.
@Sendable func measure(_ event: DeliveryEvent) {
  guard case .ended(let clients, let nanoseconds) = event.phase else { return }
  let dimensions = [("key", event.key)]
  Timer(label: "multicast.delivery", dimensions: dimensions)
    .recordNanoseconds(Int64(nanoseconds))
  Counter(label: "multicast.calls", dimensions: dimensions).increment(by: clients)
}

func makeMeasuredCenter() -> MulticastCenter {
  MulticastCenter(onDelivery: measure)
}
