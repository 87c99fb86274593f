import Synchronization

extension ClientList {
  /// Vacates the boxes of dead clients, and closes the gaps or lets the list grow.
  ///
  /// Done once for every doubling, so that an add costs O(1) on average.
  func makeRoom() {
    countAlive()
    withState { state, toRelease in
      guard state.isFull else { return }
      if state.current.vacant == 0 {
        state.current.raiseLimit()
      } else {
        replaceCurrent(&state, droppingInto: &toRelease)
        // The walk in the old one learns here that it has something to free.
        reclaim(&state, droppingInto: &toRelease)
      }
      publish(state)
    }
  }

  /// Closes the gaps of the current generation, or replaces it by one without gaps and leaves it to the
  /// walks in it: at once if the list is short, and otherwise in steps that follow.
  func replaceCurrent(_ state: inout State, droppingInto toRelease: inout [AnyObject]) {
    guard state.successor == nil else { return }
    let isShort = state.current.count <= ClientGeneration.largestStep
    if isShort, !state.current.isWalked {
      state.current.compact(droppingInto: &toRelease)
    } else {
      state.beginSuccessor()
      if isShort { installSuccessor(&state, droppingInto: &toRelease) }
    }
    publish(state)
  }

  /// Makes the successor that was begun. The lock is held for each step and let go between them.
  func makeSuccessor() {
    var isUnderWay = true
    while isUnderWay {
      isUnderWay = withState { state, toRelease in
        // Another thread may have made the rest of it.
        if advanceSuccessor(&state, droppingInto: &toRelease) {
          installSuccessor(&state, droppingInto: &toRelease)
          reclaim(&state, droppingInto: &toRelease)
        }
        return state.successor != nil
      }
    }
  }

  /// Goes one step. Returns whether everybody has been copied.
  func advanceSuccessor(_ state: inout State, droppingInto toRelease: inout [AnyObject]) -> Bool {
    state.advanceSuccessor(by: ClientGeneration.largestStep, droppingInto: &toRelease)
  }

  /// Copies who has not been copied yet, and puts the successor in the place of the current generation.
  func installSuccessor(_ state: inout State, droppingInto toRelease: inout [AnyObject]) {
    _ = state.advanceSuccessor(by: .max, droppingInto: &toRelease)
    guard let retired = state.installSuccessor() else { return }
    if retired.generation.isWalked {
      state.retired.append(retired)
    } else {
      toRelease.append(retired)
    }
    publish(state)
  }

  /// Frees what no walk can reach any more, or leaves it to the end of the last walk.
  func reclaim(_ state: inout State, droppingInto toRelease: inout [AnyObject]) {
    guard
      state.current.needsReclaiming || !state.retired.isEmpty
        || needsReclaiming.load(ordering: .relaxed)
    else { return }
    // Announced first, looked at second; the end of a walk does the opposite.
    needsReclaiming.store(true, ordering: .sequentiallyConsistent)
    state.retired.removeAll { retired in
      guard !retired.generation.isWalked else { return false }
      toRelease.append(retired)
      return true
    }
    if state.current.needsReclaiming, state.successor == nil, !state.current.isWalked {
      if state.current.isSparse {
        replaceCurrent(&state, droppingInto: &toRelease)
      } else {
        state.current.dropCompanions(droppingInto: &toRelease)
      }
    }
    if state.retired.isEmpty, !state.current.needsReclaiming {
      needsReclaiming.store(false, ordering: .sequentiallyConsistent)
    }
  }
}

extension ClientList.State {
  /// Whether dead clients are to be looked for before another is appended. While a successor is made,
  /// they are being left behind.
  var isFull: Bool { successor == nil && current.isFull }
}
