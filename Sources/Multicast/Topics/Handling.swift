import Synchronization

/// A call of a handler that awaits, known to the task that it runs in and to the tasks that it starts.
final class Handling: Sendable {
  @TaskLocal static var current: Handling?

  let observer: ObjectIdentifier
  private let state = Atomic<Bool>(true)

  init(of observer: ObjectIdentifier) {
    self.observer = observer
  }

  /// Whether the handler has not returned. A task that it has started may outlive it.
  var isUnderWay: Bool { state.load(ordering: .acquiring) }

  func end() {
    state.store(false, ordering: .releasing)
  }
}
