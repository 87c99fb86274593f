extension ClientList {
  /// What became of a companion.
  enum Placement: Sendable {
    case added

    /// The client was registered, and this was its companion before.
    case exchanged(Companion?)

    /// The client is in its `deinit`.
    case refused

    /// The list has been closed.
    case closed
  }

  /// Adds a client and its companion at the end, or exchanges the companion of one that is registered,
  /// which keeps its place.
  ///
  /// Amortised O(1).
  func place(_ companion: Companion, of client: AnyObject, for key: ClientKey) -> Placement {
    dropSomeDead()
    while true {
      let placement: Placement? = withState { state, garbage in
        if state.isClosed { return .closed }
        if let box = findAlive(key, in: &state, droppingInto: &garbage) {
          let old = state.current.exchangeCompanion(of: box, with: companion)
          for index in unsafe state.retired.indices {
            guard let box = unsafe state.retired[index].pointee.find(key) else { continue }
            let copy = unsafe state.retired[index].pointee.exchangeCompanion(
              of: box, with: companion)
            if let copy { garbage.append(copy) }
          }
          reclaim(&state, droppingInto: &garbage)
          return .exchanged(old)
        }
        if state.current.isFull { return nil }
        let reference = unsafe Unmanaged.passUnretained(companion)
        let added = unsafe withUnsafePointer(to: reference) { bits in
          unsafe state.current.append(
            client, identity: key.identity, bits: UnsafeRawPointer(bits), home: nil)
        }
        publishCount(state)
        return added ? .added : .refused
      }
      if let placement { return placement }
      makeRoom()
    }
  }

  /// Closes the list for good, if no client is registered.
  func closeIfEmpty() -> Bool {
    withState { state, _ in
      if state.current.isEmpty { state.isClosed = true }
      return state.isClosed
    }
  }

  /// Releases the companions of dead clients, if the list is so short that this costs next to nothing.
  ///
  /// In a longer one they go with the next walk, or as the list grows.
  func dropSomeDead() {
    if hasCompanions, count.load(ordering: .relaxed) <= 32 { countAlive() }
  }
}
