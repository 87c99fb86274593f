import Metrics

/// The metrics of a carriage, in the words of swift-metrics.
struct Meters: Sendable {
  private let counters: [Counter]
  private let waiting, connected: Gauge

  init(name: String) {
    let dimensions = [("name", name)]
    counters = ["sent", "received", "repeated", "missing", "kept"].map {
      Counter(label: "multicast.carrier.\($0)", dimensions: dimensions)
    }
    waiting = Gauge(label: "multicast.carrier.waiting_bytes", dimensions: dimensions)
    connected = Gauge(label: "multicast.carrier.connected", dimensions: dimensions)
  }

  /// Tells what has come to be since an older state.
  func record(_ new: CarriageState, since old: CarriageState?) {
    let old = old ?? CarriageState()
    for (counter, way) in zip(
      counters, [\CarriageState.sent, \.received, \.repeated, \.missing, \.kept])
    {
      counter.increment(by: Int(clamping: new[keyPath: way] &- old[keyPath: way]))
    }
    waiting.record(new.waitingBytes)
    connected.record(new.connection == .connected ? 1 : 0)
  }
}
