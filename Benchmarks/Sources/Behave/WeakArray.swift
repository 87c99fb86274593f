/// What is written by hand in many programs: an array of weak references, without a lock.
final class WeakArray: System, @unchecked Sendable {
  // Unchecked, and not true: that is how it behaves.
  private struct Reference {
    weak var object: AnyObject?
    let place: Place
  }

  private var references: [Reference] = []

  init(keepsLatest: Bool) {}

  func add(_ listener: Listener, at place: Place) -> Bool {
    references.append(Reference(object: listener, place: place))
    return true
  }

  func add(_ value: ValueListener) {
    references.append(Reference(object: value as AnyObject, place: .here))
  }

  func remove(_ listener: Listener) { references.removeAll { $0.object === listener } }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    for reference in references {
      guard let ear = reference.object as? any Ear else { continue }
      guard let listener = ear as? Listener else {
        ear.hear(number, kind)
        continue
      }
      switch reference.place {
      case .here: listener.hear(number, kind)
      case .queue(let queue): queue.async { listener.hear(number, kind) }
      case .mainActor: Task { @MainActor in listener.hear(number, kind) }
      }
    }
  }

  func sendThrowing(_ number: Int) throws -> Bool {
    for reference in references { try (reference.object as? any Ear)?.tryToHear(number) }
    return true
  }
}
