import Multicast
import TestSupport

/// Collects what is reported. `add` is to be passed as `onDelivery`.
typealias Events = Collected<DeliveryEvent>

extension Events {
  /// The events so far in short. They are forgotten.
  func read() -> [String] { take().map(\.brief) }

  /// Waits for the end of so many passes.
  func wait(forEnds count: Int) async {
    await wait { events in events.count { $0.brief.contains(" ended ") } >= count }
  }
}

extension DeliveryEvent {
  /// What does not differ from one run to the next: a home stands behind `@`, and `late` for a post that waited.
  var brief: String {
    let news =
      switch phase {
      case .began: "began"
      case .called(let type, _): "called \(type)"
      case .left(let home, let clients, _): "left \(clients) for \(home)"
      case .ended(let clients, _): "ended \(clients)"
      case .refused: "refused"
      }
    return "\(way) \(news)" + (home.map { " @\($0)" } ?? "") + (waited == nil ? "" : " late")
  }
}
