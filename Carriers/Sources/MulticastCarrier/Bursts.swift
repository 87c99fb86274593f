import NIOCore

/// Counts what happens often, and tells it once a second at most: the first time at once.
struct Bursts: Sendable {
  enum Key: Hashable {
    case skipped(String)
    case kept(String)
    case dropped(String, CarriageReport.Direction)
  }

  /// Payloads that somebody invents shall not fill the memory or the log.
  static let limit = 20
  static let pause = TimeAmount.seconds(1)

  private struct Count {
    var new: Int
    var error = CarrierError.disconnected
    var told: NIODeadline?
  }
  private var counts: [Key: Count] = [:]

  mutating func add(_ key: Key, _ count: Int = 1, error: CarrierError = .disconnected) {
    let key =
      counts[key] == nil && counts.count >= Bursts.limit
      ? .skipped("Too many payloads cannot be used to tell each reason.") : key
    counts[key, default: Count(new: 0)].new += count
    counts[key]?.error = error
  }

  /// What is to be told now.
  mutating func take(at now: NIODeadline) -> [CarriageReport] {
    guard !counts.isEmpty else { return [] }
    var reports: [CarriageReport] = []
    for (key, count) in counts where count.told.map({ now - $0 >= Bursts.pause }) ?? true {
      guard count.new > 0 else {
        counts[key] = nil
        continue
      }
      counts[key]?.new = 0
      counts[key]?.told = now
      switch key {
      case .skipped(let reason): reports.append(.skipped(reason: reason, count: count.new))
      case .kept(let type):
        reports.append(.kept(type: type, reason: count.error, count: count.new))
      case .dropped(let type, let way): reports.append(.dropped(type: type, way, count: count.new))
      }
    }
    return reports
  }
}
