import Clients
import Synchronization

/// The design that this package replaces: a dictionary of weak references to objects, whatever they
/// are, and a cast to the protocol on each notify.
final class CastingCenter: Sendable {
  struct WeakReference {
    weak var object: (AnyObject & Sendable)?
  }

  private let references = Mutex<[ObjectIdentifier: WeakReference]>([:])

  func add(_ client: AnyObject & Sendable) {
    references.withLock { $0[ObjectIdentifier(client)] = WeakReference(object: client) }
  }

  func remove(_ client: AnyObject & Sendable) {
    _ = references.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) }
  }

  func notify<Listener>(_ listener: Listener.Type, _ body: (Listener) -> Void) {
    for reference in references.withLock({ $0 }).values {
      if let client = reference.object as? Listener { body(client) }
    }
  }
}

final class CastingSystem: System {
  private let center = CastingCenter()

  init(clients: [any Client]) {
    for client in clients { center.add(client) }
  }

  func send(_ events: Int) {
    for event in 0..<events { center.notify((any OpaqueListener).self) { $0.event(event) } }
  }
}
