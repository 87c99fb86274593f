import Clients
import Dispatch
import Multicast

final class MulticastBound: System {
  private let center = MulticastCenter()

  init(clients: [any Client]) {
    for client in clients { center.add(client, for: (any BoundListener).self) }
  }

  func send(_ events: Int) {
    for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
  }
}

/// Every call is reported, to somebody who does nothing with it.
final class MulticastReported: System {
  private let center = MulticastCenter(onDelivery: { _ in })

  init(clients: [any Client]) {
    for client in clients { center.add(client, for: (any BoundListener).self) }
  }

  func send(_ events: Int) {
    for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
  }
}

final class MulticastAlone: System {
  private let delegate = MulticastDelegate<any BoundListener>()

  init(clients: [any Client]) {
    for client in clients { delegate.add(client) }
  }

  func send(_ events: Int) {
    for event in 0..<events { delegate.notify { $0.event(event) } }
  }
}

final class MulticastOpaque: System {
  private let center = MulticastCenter()

  init(clients: [any Client]) {
    for client in clients { center.add(client, for: (any OpaqueListener).self) }
  }

  func send(_ events: Int) {
    for event in 0..<events { center.notify((any OpaqueListener).self) { $0.event(event) } }
  }
}

final class MulticastBoundBatch: System {
  private let center = MulticastCenter()

  init(clients: [any Client]) {
    for client in clients { center.add(client, for: (any BoundListener).self) }
  }

  func send(_ events: Int) {
    for batch in Batch.all(of: events) {
      center.notify((any BoundListener).self, forEach: batch) { $0.event($1) }
    }
  }
}

final class MulticastOpaqueBatch: System {
  private let center = MulticastCenter()

  init(clients: [any Client]) {
    for client in clients { center.add(client, for: (any OpaqueListener).self) }
  }

  func send(_ events: Int) {
    for batch in Batch.all(of: events) {
      center.notify((any OpaqueListener).self, forEach: batch) { $0.event($1) }
    }
  }
}

final class MulticastPost: System {
  private let center = MulticastCenter()

  init(clients: [any Client]) {
    for client in clients { center.add(client, for: (any BoundListener).self) }
  }

  func send(_ events: Int) {
    for event in 0..<events { center.post((any BoundListener).self) { $0.event(event) } }
  }
}

/// Clients that live on a queue, and are posted to there.
final class MulticastPostAtHome: System {
  private let center = MulticastCenter()
  private let queue = DispatchQueue(label: "home")

  init(clients: [any Client]) {
    for client in clients { center[(any BoundListener).self].add(client, on: queue) }
  }

  func send(_ events: Int) {
    queue.sync {
      for event in 0..<events { center.post((any BoundListener).self) { $0.event(event) } }
    }
  }
}

final class MulticastTopic: System {
  private let center = MulticastCenter()

  init(clients: [any Client]) {
    for client in clients { client.observe(.event, in: center) }
  }

  func send(_ events: Int) {
    for event in 0..<events { center.post(.event, event) }
  }
}

extension Topic where Message == Int {
  /// The topic that all of the benchmarks post to.
  public static var event: Self { Topic("event") }
}
