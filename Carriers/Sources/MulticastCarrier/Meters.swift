import Foundation
import Metrics

/// The measurements of a topic, for the metrics system of the program.
struct Meters: Sendable {
  let sent, received: Counter
  let waiting, lag: Gauge
  let time: Metrics.Timer

  init(_ type: String) {
    let topic = [("topic", type)]
    sent = Counter(label: "multicast.carrier.sent", dimensions: topic)
    received = Counter(label: "multicast.carrier.received", dimensions: topic)
    waiting = Gauge(label: "multicast.carrier.waiting", dimensions: topic)
    lag = Gauge(label: "multicast.carrier.lag", dimensions: topic)
    time = Metrics.Timer(label: "multicast.carrier.time", dimensions: topic)
  }

  /// Releases what the metrics system stores. Call this when the topic is no longer carried.
  func destroy() {
    for counter in [sent, received] { counter.destroy() }
    for gauge in [waiting, lag] { gauge.destroy() }
    time.destroy()
  }

  /// Counts what a report has reported.
  static func count(_ report: CarriageReport, _ count: UInt64 = 1) {
    let (name, type): (String, String?) =
      switch report {
      case .connected: ("connections", nil)
      case .gap(let type, _, _): ("missing", type)
      case .kept(let type, _, _): ("kept", type)
      case .skipped(let type, _, _): ("skipped", type)
      default: ("", nil)
      }
    guard !name.isEmpty else { return }
    Counter(label: "multicast.carrier.\(name)", dimensions: type.map { [("topic", $0)] } ?? [])
      .increment(by: count)
  }
}

/// The wall clock of this machine, in milliseconds since 1970.
var wallClock: UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000) }
