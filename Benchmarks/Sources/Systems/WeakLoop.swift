import Clients

/// What is written by hand in most projects: an array of weak references.
///
/// No lock, no order to keep when clients go, no duplicates looked for. A protocol that is not
/// restricted to classes cannot be kept like this.
final class WeakLoop: System {
  private struct WeakReference {
    weak var listener: (any BoundListener)?
  }

  private var references: [WeakReference]

  init(clients: [any Client]) {
    references = clients.map { WeakReference(listener: $0) }
  }

  func send(_ events: Int) {
    for event in 0..<events { tell(event) }
  }

  // Not inlined, for the same reason as the strong loop's.
  @inline(never)
  private func tell(_ event: Int) {
    for reference in references { reference.listener?.event(event) }
  }
}
