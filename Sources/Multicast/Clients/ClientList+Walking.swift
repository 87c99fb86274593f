extension ClientList {
  @usableFromInline
  func beginWalk() -> Walk {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe Walk(
        over: state.current.boxes, of: self, counters: state.current.counters,
        limit: state.nextNumber)
    }
  }

  /// Begins a walk over the current clients of a home, in order.
  func beginWalk(at mailbox: AnyObject & Sendable) -> Walk {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe Walk(
        over: state.current.boxes(at: mailbox), of: self, counters: state.current.counters,
        limit: state.nextNumber)
    }
  }

  /// Ends a walk. `foundDead` tells whether it has vacated boxes.
  func endWalk(_ counters: UnsafeMutablePointer<WalkCounts.Counters>, foundDead: Bool) {
    if foundDead {
      withState { state, _ in
        guard unsafe state.current.counters == counters else { return }
        state.current.noteVacatedByWalk()
        if state.current.needsReclaiming {
          needsReclaiming.store(true, ordering: .sequentiallyConsistent)
        }
      }
    }
    // From here on, another thread may free the boxes.
    unsafe counters.pointee.endedWalks.wrappingAdd(1, ordering: .sequentiallyConsistent)
    if needsReclaiming.load(ordering: .sequentiallyConsistent) {
      withState { state, toRelease in
        // If walks overlap continuously, none of them is the last. Then the list would never be compacted.
        if state.current.isSparse, state.current.isWalked {
          replaceCurrent(&state, droppingInto: &toRelease)
        }
        reclaim(&state, droppingInto: &toRelease)
      }
    }
  }
}

extension ClientList {
  /// Calls `body` with the live clients and their boxes until it returns false. Vacates the boxes of
  /// deallocated clients. O(*n*).
  ///
  /// Called with no lock held, because a client may be released here last.
  func forEachAlive(_ body: (AnyObject, WeakBox) -> Bool) {
    defer { extendLifetime(self) }
    var walk = beginWalk()
    walk.forEach { box in
      guard let client = box.load() else { return .dead }
      return body(client, box) ? .called : .last
    }
  }

  /// Counts live clients, up to `limit`. Vacates the boxes of deallocated ones. O(*n*).
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
