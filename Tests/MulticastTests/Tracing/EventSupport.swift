import Multicast
import Testing

/// Collects what is reported.
final class Events: Sendable {
  private let events = Locked<[DeliveryEvent]>([])

  /// To be passed as `onDelivery`.
  var callback: @Sendable (DeliveryEvent) -> Void { { event in self.add(event) } }

  func add(_ event: DeliveryEvent) { events.withLock { $0.append(event) } }

  var all: [DeliveryEvent] { events.withLock { $0 } }

  /// The events so far in short. They are forgotten.
  func read() -> [String] {
    events.withLock { events in
      defer { events = [] }
      return events.map(\.brief)
    }
  }

  /// Waits for the end of so many passes.
  func wait(forEnds count: Int) async {
    while all.count(where: { $0.brief.contains(" ended ") }) < count { await Task.yield() }
  }
}

extension DeliveryEvent {
  /// What does not differ from one run to the next: a home stands behind `@`, and `late` for a post that waited.
  var brief: String {
    let news =
      switch phase {
      case .began: "began"
      case .called(let type, _): "called \(type)"
      case .left(let home, let clients): "left \(clients) for \(home)"
      case .ended(let clients, _): "ended \(clients)"
      case .refused: "refused"
      }
    return "\(way) \(news)" + (home.map { " @\($0)" } ?? "") + (waited == nil ? "" : " late")
  }
}
