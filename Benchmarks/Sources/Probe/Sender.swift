import Clients
import Multicast

/// Sends events to clients in one way.
///
/// A class with the lists in its properties, as in a program: a list that the optimiser could see
/// being filled would not be measured, but its contents.
final class Sender {
  private let scenario: Scenario
  private let center = MulticastCenter()
  private let bound: [any BoundListener]
  private let opaque: [any OpaqueListener]

  /// How many events a batch takes.
  private static let batch = 100

  init(_ clients: [any Client], scenario: Scenario) {
    self.scenario = scenario
    // The strong loop's clients have no weak references, which would make its work dearer.
    bound = scenario == .strongClassBound ? clients : []
    opaque = scenario == .strongOpaque ? clients : []
    for client in clients { register(client) }
  }

  private func register(_ client: any Client) {
    switch scenario {
    case .classBound, .batchClassBound, .post: center.add(client, for: (any BoundListener).self)
    case .opaque, .batchOpaque: center.add(client, for: (any OpaqueListener).self)
    case .topic: client.observe(.probe, in: center)
    case .strongClassBound, .strongOpaque: break
    }
  }

  @inline(never)
  func send(_ events: Int) {
    switch scenario {
    case .classBound:
      for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
    case .opaque:
      for event in 0..<events { center.notify((any OpaqueListener).self) { $0.event(event) } }
    case .topic:
      for event in 0..<events { center.post(.probe, event) }
    case .post:
      for event in 0..<events { center.post((any BoundListener).self) { $0.event(event) } }
    case .batchClassBound:
      for batch in Self.batches(of: events) {
        center.notify((any BoundListener).self, forEach: batch) { $0.event($1) }
      }
    case .batchOpaque:
      for batch in Self.batches(of: events) {
        center.notify((any OpaqueListener).self, forEach: batch) { $0.event($1) }
      }
    case .strongClassBound:
      for event in 0..<events { for client in bound { client.event(event) } }
    case .strongOpaque:
      for event in 0..<events { for client in opaque { client.event(event) } }
    }
  }

  private static func batches(of events: Int) -> some Sequence<Range<Int>> {
    stride(from: 0, to: events, by: batch).lazy.map { $0..<min($0 + batch, events) }
  }
}

extension Topic where Message == Int {
  static var probe: Self { Topic("probe") }
}
