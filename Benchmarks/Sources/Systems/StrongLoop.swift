import Clients

/// The limit: an array that keeps its clients alive, and nothing else.
final class StrongBoundLoop: System {
  private var listeners: [any BoundListener]

  init(clients: [any Client]) {
    listeners = clients.map { $0 }
  }

  func send(_ events: Int) {
    for event in 0..<events { tell(event) }
  }

  // Not inlined, or the optimiser sees all events at once, and that nothing happens between them.
  @inline(never)
  private func tell(_ event: Int) {
    for listener in listeners { listener.event(event) }
  }
}

final class StrongOpaqueLoop: System {
  private var listeners: [any OpaqueListener]

  init(clients: [any Client]) {
    listeners = clients.map { $0 }
  }

  func send(_ events: Int) {
    for event in 0..<events { tell(event) }
  }

  // Not inlined, or the optimiser sees all events at once, and that nothing happens between them.
  @inline(never)
  private func tell(_ event: Int) {
    for listener in listeners { listener.event(event) }
  }
}
