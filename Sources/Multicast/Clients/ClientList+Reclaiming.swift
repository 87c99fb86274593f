extension ClientList {
  /// Vacates the boxes of deallocated clients, and compacts the list or lets it grow.
  ///
  /// Called once for each doubling, so adds are amortized O(1).
  func makeRoom() {
    countAlive()
    withState { state, toRelease in
      guard state.isFull else { return }
      if state.current.vacant == 0 {
        state.current.raiseLimit()
      } else {
        replaceCurrent(&state, droppingInto: &toRelease)
        // Tells the old generation's walks that there is something to free.
        reclaim(&state, droppingInto: &toRelease)
      }
      publish(state)
    }
  }

  /// Compacts the current generation, or replaces it by a compact copy. A long list is copied in later steps.
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

  /// Makes the successor in steps, each with the lock held.
  func makeSuccessor() {
    var isUnderWay = true
    while isUnderWay {
      isUnderWay = withState { state, toRelease in
        // Another thread may have finished it.
        if advanceSuccessor(&state, droppingInto: &toRelease) {
          installSuccessor(&state, droppingInto: &toRelease)
          reclaim(&state, droppingInto: &toRelease)
        }
        return state.successor != nil
      }
    }
  }

  func advanceSuccessor(_ state: inout State, droppingInto toRelease: inout [AnyObject]) -> Bool {
    state.advanceSuccessor(by: ClientGeneration.largestStep, droppingInto: &toRelease)
  }

  /// Copies the rest, and replaces the current generation by its successor.
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

  /// Frees what no walk can reach, or leaves that to the end of the last walk.
  func reclaim(_ state: inout State, droppingInto toRelease: inout [AnyObject]) {
    guard
      state.current.needsReclaiming || !state.retired.isEmpty
        || needsReclaiming.load(ordering: .relaxed)
    else { return }
    // Stored before the walks are checked; the end of a walk does the opposite. See
    // ``WalkCounts/areActive``.
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
  /// Whether to reclaim before the next append. False while a successor is made, which leaves deallocated
  /// clients out.
  var isFull: Bool { successor == nil && current.isFull }
}
