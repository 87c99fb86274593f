import Synchronization

extension ClientList {
  /// Begins a walk over the clients of this moment. The lock is held for a few instructions.
  @usableFromInline
  func beginWalk() -> Walk {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe Walk(
        counters: state.current.counters, first: state.current.first, count: state.current.count)
    }
  }

  /// Ends a walk.
  ///
  /// - Parameter foundDead: Whether the walk has vacated boxes of dead clients.
  @usableFromInline
  func endWalk(_ walk: Walk, foundDead: Bool) {
    if foundDead {
      withState { state, _ in
        guard unsafe state.current.counters == walk.counters else { return }
        state.current.noteVacatedByWalk()
        if state.current.hasGarbage { hasGarbage.store(true, ordering: .sequentiallyConsistent) }
      }
    }
    // From here on another thread may free what was walked over.
    unsafe walk.counters.pointee.endedWalks.add(1, ordering: .sequentiallyConsistent)
    if hasGarbage.load(ordering: .sequentiallyConsistent) {
      withState { state, garbage in
        // Where walks overlap without a gap, waiting for one would be waiting for ever, while the dead
        // make every walk longer.
        if state.current.isSparse, state.current.isWalked {
          retireCurrent(&state, droppingInto: &garbage)
        }
        reclaim(&state, droppingInto: &garbage)
      }
    }
  }
}

extension ClientList {
  /// Counts the clients that are alive, as far as `limit`, and vacates the boxes of dead ones.
  ///
  /// Takes no lock on the way, since letting go of a client may run its `deinit`. O(*n*).
  @discardableResult
  func countAlive(upTo limit: Int = .max) -> Int {
    let walk = beginWalk()
    var boxes = BoxCursor(first: walk.first, count: walk.count, stride: stride)
    var alive = 0
    var foundDead = false
    while alive < limit, let box = boxes.next() {
      if box.load() != nil {
        alive += 1
      } else if walk.vacate(box) {
        foundDead = true
      }
    }
    endWalk(walk, foundDead: foundDead)
    return alive
  }
}
