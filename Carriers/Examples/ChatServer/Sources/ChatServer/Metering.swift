import Metrics
import Multicast
import Synchronization

/// A timer of deliveries and a counter of calls for each protocol and topic.
@Sendable func measure(_ event: DeliveryEvent) {
  guard case .ended(let clients, let nanoseconds) = event.phase else { return }
  let dimensions = [("key", event.key)]
  Timer(label: "multicast.delivery", dimensions: dimensions)
    .recordNanoseconds(nanoseconds)
  Counter(label: "multicast.calls", dimensions: dimensions).increment(by: clients)
}

/// Sums of all measurements, as the text that Prometheus reads. A real server uses a metrics backend instead.
final class MetricSums: MetricsFactory {
  private let sums = Mutex<[String: Double]>([:])

  var text: String {
    sums.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0) \($1)\n" }.joined()
  }

  private final class Sum: CounterHandler, TimerHandler, RecorderHandler {
    let factory: MetricSums
    let aggregates: Bool
    let name: @Sendable (String) -> String
    init(
      _ factory: MetricSums, _ label: String, _ dimensions: [(String, String)],
      aggregates: Bool = true
    ) {
      (self.factory, self.aggregates) = (factory, aggregates)
      let label = String(label.map { $0.isLetter || $0.isNumber ? $0 : "_" })
      let shown = dimensions.map { key, value in
        let value = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(key)=\"\(value.replacing("\n", with: " "))\""
      }
      let suffix = shown.isEmpty ? "" : "{\(shown.joined(separator: ","))}"
      name = { label + $0 + suffix }
    }
    private func add(_ amount: Double, _ unit: String) {
      factory.sums.withLock { $0[name(unit), default: 0] += amount }
    }
    func increment(by amount: Int64) { add(Double(amount), "_total") }
    func reset() { factory.sums.withLock { $0[name("_total")] = nil } }
    func recordNanoseconds(_ duration: Int64) {
      add(Double(duration) / 1e9, "_seconds_sum")
      add(1, "_seconds_count")
    }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) {
      guard aggregates else { return factory.sums.withLock { $0[name("")] = value } }
      add(value, "_sum")
      add(1, "_count")
    }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    Sum(self, label, dimensions)
  }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool)
    -> any RecorderHandler
  {
    Sum(self, label, dimensions, aggregates: aggregate)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    Sum(self, label, dimensions)
  }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
