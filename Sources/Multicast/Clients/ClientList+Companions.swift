extension ClientList {
  /// What became of a companion that was to be placed.
  enum Placement: Sendable {
    /// It was added, with this number.
    case added(UInt64)

    /// The client is registered, with this companion. Nothing has changed.
    case existing(Companion)

    /// The client is in its `deinit`.
    case refused

    /// The list has been closed.
    case closed
  }

  /// Adds a client and its companion at the end.
  ///
  /// Amortised O(1).
  ///
  /// - Parameters:
  ///   - companion: The companion, which the list keeps from now on.
  ///   - owner: The client.
  ///   - key: What the registration is found by.
  ///   - subject: What its group is of, if it is to be in one.
  func place(
    _ companion: Companion, of owner: AnyObject, for key: ClientKey,
    in subject: (AnyObject & Sendable)? = nil
  ) -> Placement {
    dropSomeDead()
    while true {
      let placement: Placement? = withState { state, garbage in
        if state.isClosed { return .closed }
        if let box = findAlive(key, in: &state, droppingInto: &garbage),
          let companion = box.companion
        {
          return .existing(companion)
        }
        if state.isFull { return nil }
        let reference = unsafe Unmanaged.passUnretained(companion)
        let number = unsafe withUnsafePointer(to: reference) { bits in
          unsafe append(
            owner, bits: UnsafeRawPointer(bits), in: subject, to: &state, droppingInto: &garbage)
        }
        return number.map { .added($0) } ?? .refused
      }
      if let placement { return placement }
      makeRoom()
    }
  }

  /// Puts another companion in the place of a registered one, and returns its number; nil if `old` is not
  /// registered any more.
  ///
  /// The client keeps its place in the order. Walks that are under way keep the old companion.
  ///
  /// O(1) in the same group while nobody walks over the list, and O(*n*) otherwise.
  ///
  /// - Parameters:
  ///   - old: The companion that is to go. It is dropped without the lock.
  ///   - new: The companion that comes.
  ///   - owner: The client, which the caller owns.
  ///   - subject: What the group of the new companion is of, if it is to be in one.
  func replace(
    _ old: Companion, with new: Companion, of owner: AnyObject,
    in subject: (AnyObject & Sendable)? = nil
  ) -> UInt64? {
    let key = ClientKey(ObjectIdentifier(owner)) { box in box.hasCompanion(old) }
    // If a copy is needed, nearly all of it is made in steps.
    while !withState(
      leavingSuccessor: true, { state, garbage in isReady(toReplace: key, in: &state, &garbage) })
    {}
    let number: UInt64? = withState { state, garbage in
      guard state.current.find(key) != nil else { return nil }
      if state.successor == nil, state.current.isWalked { state.beginSuccessor() }
      installSuccessor(&state, droppingInto: &garbage)
      guard let box = state.current.find(key) else { return nil }
      let number = state.nextNumber
      state.nextNumber += 1
      let group = subject.map { state.current.group(of: $0) }
      if let companion = state.current.replaceCompanion(
        of: box, with: new, number: number, group: group)
      {
        garbage.append(companion)
      }
      publish(state)
      reclaim(&state, droppingInto: &garbage)
      return number
    }
    // Removed while the copy was made, which nobody else may be making.
    if number == nil { makeSuccessor() }
    return number
  }

  /// Goes a step towards a generation that no walk is in. Returns whether next to nothing is left to do.
  private func isReady(
    toReplace key: ClientKey, in state: inout State, _ garbage: inout [AnyObject]
  ) -> Bool {
    guard state.current.count > ClientGeneration.largestStep, state.current.find(key) != nil else {
      return true
    }
    if state.successor == nil {
      guard state.current.isWalked else { return true }
      state.beginSuccessor()
    }
    return advanceSuccessor(&state, droppingInto: &garbage)
  }

  /// Closes the list for good, if no client is alive. Returns whether it is closed.
  ///
  /// O(1) if the first client is alive.
  func closeIfEmpty() -> Bool {
    guard countAlive(upTo: 1) == 0 else { return false }
    return withState { state, _ in
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
