import Foundation
import Metrics

/// The measurements of a topic, for the metrics system of the program.
struct Meters: Sendable {
  let sent, received, missing, kept, skipped: Counter
  let waiting, lag: Gauge
  let time: Metrics.Timer

  /// How often an engine became reachable, for the whole program. Created for each use, because the program may install its
  /// metrics system late.
  static var connections: Counter { Counter(label: "multicast.carrier.connections") }

  init(_ type: String) {
    let topic = [("topic", type)]
    sent = Counter(label: "multicast.carrier.sent", dimensions: topic)
    received = Counter(label: "multicast.carrier.received", dimensions: topic)
    missing = Counter(label: "multicast.carrier.missing", dimensions: topic)
    kept = Counter(label: "multicast.carrier.kept", dimensions: topic)
    skipped = Counter(label: "multicast.carrier.skipped", dimensions: topic)
    waiting = Gauge(label: "multicast.carrier.waiting", dimensions: topic)
    lag = Gauge(label: "multicast.carrier.lag", dimensions: topic)
    time = Metrics.Timer(label: "multicast.carrier.time", dimensions: topic)
  }

  /// Releases what the metrics system stores. Call this when the topic is no longer carried.
  func destroy() {
    for counter in [sent, received, missing, kept, skipped] { counter.destroy() }
    for gauge in [waiting, lag] { gauge.destroy() }
    time.destroy()
  }
}

/// The wall clock of this machine, in milliseconds since 1970.
var wallClock: UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000) }
