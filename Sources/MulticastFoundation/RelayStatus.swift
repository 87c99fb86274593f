import Multicast

/// The state of a relay, shared by its observer, its token, and Foundation's block. None of them keeps
/// another alive. A copy is the same state. It is no object, whose properties Foundation's block would read before
/// ``isActive`` has acquired them.
struct RelayStatus: Sendable {
  private enum State {
    /// The observer is being added to the `NotificationCenter`.
    static let starting = 0
    static let observing = 1
    static let ended = 2
  }

  let state = Atomic<Int>(State.starting)
  private let drops = Atomic<Int>(0)

  /// Publishes the observer to threads that read ``isActive``. Called before others can read.
  ///
  /// Foundation's lock does this too, but the thread sanitizer does not see that lock and would report a
  /// false race.
  func publish() { state.store(State.starting, ordering: .releasing) }

  var isActive: Bool { state.load(ordering: .acquiring) != State.ended }

  /// Records that there is an observer to remove. Returns false if the relay has ended. The caller must then
  /// remove the observer.
  func begin() -> Bool {
    state.compareExchange(
      expected: State.starting, desired: State.observing, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Ends the relay. Returns true to a single caller, if there is an observer to remove.
  func end() -> Bool {
    state.exchange(State.ended, ordering: .acquiringAndReleasing) == State.observing
  }

  var dropped: Int { drops.load(ordering: .relaxed) }

  func countDropped() { drops.wrappingAdd(1, ordering: .relaxed) }
}
