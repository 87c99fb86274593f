import Synchronization

extension ClientList {
  /// Begins a walk over the clients of this moment. The lock is held for a few instructions.
  @usableFromInline
  func beginWalk() -> Walk {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe Walk(
        over: state.current.boxes, of: self, counters: state.current.counters,
        limit: state.nextNumber)
    }
  }

  /// Begins a walk over the clients of this moment that are in the group of a subject, in the same order.
  func beginWalk(inGroupOf subject: AnyObject & Sendable) -> Walk {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe Walk(
        over: state.current.boxes(inGroupOf: subject), of: self,
        counters: state.current.counters, limit: state.nextNumber)
    }
  }

  /// How many are registered in the group of a subject.
  func count(inGroupOf subject: AnyObject & Sendable) -> Int {
    state.withLock { $0.current.existingGroup(of: subject)?.count ?? 0 }
  }

  /// What a post begins with: a walk over the clients of this moment, the groups that they are in, and how
  /// many registrations have been replaced.
  struct PostStart: ~Copyable {
    var walk: Walk
    let groups: [ClientGroup]
    let moves: Int
  }

  /// Begins a post. The lock is held for a few instructions.
  func beginPost() -> PostStart {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe PostStart(
        walk: Walk(
          over: state.current.boxes, of: self, counters: state.current.counters,
          limit: state.nextNumber),
        groups: state.current.groups, moves: state.moves.count)
    }
  }

  /// Called by a walk at its end.
  ///
  /// - Parameter foundDead: Whether the walk has vacated boxes of dead clients.
  func endWalk(_ counters: UnsafeMutablePointer<ClientGeneration.Counters>, foundDead: Bool) {
    if foundDead {
      withState { state, _ in
        guard unsafe state.current.counters == counters else { return }
        state.current.noteVacatedByWalk()
        if state.current.needsReclaiming {
          needsReclaiming.store(true, ordering: .sequentiallyConsistent)
        }
      }
    }
    // From here on another thread may free what was walked over.
    unsafe counters.pointee.endedWalks.wrappingAdd(1, ordering: .sequentiallyConsistent)
    if needsReclaiming.load(ordering: .sequentiallyConsistent) {
      withState { state, toRelease in
        // Where walks overlap without a gap, waiting for one would be waiting for ever, while the dead
        // make every walk longer.
        if state.current.isSparse, state.current.isWalked {
          replaceCurrent(&state, droppingInto: &toRelease)
        }
        reclaim(&state, droppingInto: &toRelease)
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
    defer { extendLifetime(self) }
    var walk = beginWalk()
    while let box = walk.next() {
      if let client = box.load() {
        guard body(client, box) else { return }
      } else {
        walk.noteDead(box)
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
