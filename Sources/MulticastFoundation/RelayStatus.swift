import Synchronization

/// Where a relay stands: shared by its observer, its token, and the block that Foundation has, none
/// of which keeps another.
final class RelayStatus: Sendable {
  private enum State {
    /// The observer is being added to the `NotificationCenter`.
    static let starting = 0
    static let observing = 1
    static let ended = 2
  }

  private let state = Atomic<Int>(State.starting)
  private let drops = Atomic<Int>(0)

  /// Shows what has been made so far to every thread that asks ``isActive``. To be called before
  /// others can ask.
  ///
  /// Foundation's lock does so, too. But the thread sanitizer does not see that lock, and would
  /// report a race where there is none.
  func publish() { state.store(State.starting, ordering: .releasing) }

  var isActive: Bool { state.load(ordering: .acquiring) != State.ended }

  /// Notes that there is something to be removed. Returns false if the relay was ended meanwhile:
  /// then removing is up to the caller.
  func begin() -> Bool {
    state.compareExchange(
      expected: State.starting, desired: State.observing, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Ends the relay. Returns true, to one caller alone, if there is something to be removed.
  func end() -> Bool {
    state.exchange(State.ended, ordering: .acquiringAndReleasing) == State.observing
  }

  var dropped: Int { drops.load(ordering: .relaxed) }

  func countDropped() { drops.add(1, ordering: .relaxed) }
}
