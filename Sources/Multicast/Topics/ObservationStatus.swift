import Synchronization

/// Whether an observation goes on: shared by the observer and the token, and kept by neither.
final class ObservationStatus: Sendable {
  private enum State {
    static let active = 0

    /// Takes no more messages; those that it has taken are handled still.
    static let closed = 1

    /// Handles nothing any more.
    static let cancelled = 2
  }

  private let state = Atomic<Int>(State.active)

  /// Whether messages are taken.
  var isActive: Bool { state.load(ordering: .acquiring) == State.active }

  /// Whether messages that were taken are to be handled.
  var isCancelled: Bool { state.load(ordering: .acquiring) == State.cancelled }

  /// Takes no more messages from now on. Returns true to one caller alone, however many there are.
  @discardableResult
  func close() -> Bool {
    state.compareExchange(
      expected: State.active, desired: State.closed, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Handles nothing from now on.
  func cancel() {
    state.store(State.cancelled, ordering: .releasing)
  }
}
