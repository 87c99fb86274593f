import Metrics

/// The metrics of a carriage, in the words of swift-metrics.
struct Meters: Sendable {
  private let published, delivered, repaired, missing, dropped, skipped, kept: Counter
  private let waiting, connected, lag: Gauge

  init(name: String) {
    func counter(_ label: String) -> Counter {
      Counter(label: "multicast.carrier.\(label)", dimensions: [("name", name)])
    }
    func gauge(_ label: String) -> Gauge {
      Gauge(label: "multicast.carrier.\(label)", dimensions: [("name", name)])
    }
    published = counter("published")
    delivered = counter("delivered")
    repaired = counter("repaired")
    missing = counter("missing")
    dropped = counter("dropped")
    skipped = counter("skipped")
    kept = counter("kept")
    waiting = gauge("waiting_bytes")
    connected = gauge("connected")
    lag = gauge("lag")
  }

  /// Tells what has come to be since the last call.
  func record(_ new: Exchange.Counts, since old: Exchange.Counts, _ state: CarriageState) {
    published.increment(by: new.published - old.published)
    delivered.increment(by: new.delivered - old.delivered)
    repaired.increment(by: new.repaired - old.repaired)
    missing.increment(by: Int(clamping: new.missing &- old.missing))
    dropped.increment(by: new.dropped - old.dropped)
    skipped.increment(by: new.skipped - old.skipped)
    kept.increment(by: new.kept - old.kept)
    waiting.record(state.waitingBytes)
    connected.record(state.connection == .connected ? 1 : 0)
    lag.record(Int(clamping: state.lag.values.reduce(0, &+)))
  }
}
