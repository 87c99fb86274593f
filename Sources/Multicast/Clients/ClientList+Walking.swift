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
  /// Calls `body` with the clients that are alive and with their boxes, until it returns false, and
  /// vacates the boxes of dead clients that it meets.
  ///
  /// Takes no lock on the way, since letting go of a client may run its `deinit`. O(*n*).
  func forEachAlive(_ body: (AnyObject, WeakBox) -> Bool) {
    let walk = beginWalk()
    var foundDead = false
    defer { endWalk(walk, foundDead: foundDead) }
    var boxes = BoxCursor(first: walk.first, count: walk.count, stride: stride)
    while let box = boxes.next() {
      if let client = box.load() {
        guard body(client, box) else { return }
      } else if walk.vacate(box) {
        foundDead = true
      }
    }
  }

  /// Counts the clients that are alive, as far as `limit`, and vacates the boxes of dead ones. O(*n*).
  @discardableResult
  func countAlive(upTo limit: Int = .max) -> Int {
    var alive = 0
    forEachAlive { _, _ in
      alive += 1
      return alive < limit
    }
    return alive
  }
}
