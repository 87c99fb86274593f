import Synchronization

extension ClientList {
  /// Vacates the boxes of dead clients, and closes the gaps or lets the list grow.
  ///
  /// Done once for every doubling, so that an add costs O(1) on average.
  func makeRoom() {
    countAlive()
    withState { state, garbage in
      guard state.current.isFull else { return }
      if state.current.vacant == 0 {
        state.current.raiseLimit()
      } else if state.current.isWalked {
        retireCurrent(&state, droppingInto: &garbage)
        reclaim(&state, droppingInto: &garbage)
      } else {
        state.current.compact(droppingInto: &garbage)
      }
      publish(state)
    }
  }

  /// Replaces the current generation by a copy without gaps, and leaves it to the walks in it.
  func retireCurrent(_ state: inout State, droppingInto garbage: inout [AnyObject]) {
    let retired = UnsafeMutablePointer<ClientGeneration>.allocate(capacity: 1)
    let copy = state.current.copy(droppingInto: &garbage)
    unsafe retired.initialize(to: exchange(&state.current, with: copy))
    unsafe state.retired.append(retired)
    publish(state)
  }

  /// Frees what no walk can reach any more, or leaves it to the end of the last walk.
  func reclaim(_ state: inout State, droppingInto garbage: inout [AnyObject]) {
    guard
      unsafe state.current.hasGarbage || !state.retired.isEmpty
        || hasGarbage.load(ordering: .relaxed)
    else { return }
    // Announced first, looked at second; the end of a walk does the opposite.
    hasGarbage.store(true, ordering: .sequentiallyConsistent)
    for index in unsafe state.retired.indices.reversed() {
      guard unsafe !state.retired[index].pointee.isWalked else { continue }
      unsafe Self.free(state.retired.remove(at: index), droppingInto: &garbage)
    }
    if state.current.hasGarbage, !state.current.isWalked {
      state.current.reclaim(droppingInto: &garbage)
      publish(state)
    }
    if unsafe state.retired.isEmpty, !state.current.hasGarbage {
      hasGarbage.store(false, ordering: .sequentiallyConsistent)
    }
  }

  static func free(
    _ generation: UnsafeMutablePointer<ClientGeneration>, droppingInto garbage: inout [AnyObject]
  ) {
    unsafe generation.pointee.dropObjects(into: &garbage)
    unsafe generation.deinitialize(count: 1)
    unsafe generation.deallocate()
  }
}
