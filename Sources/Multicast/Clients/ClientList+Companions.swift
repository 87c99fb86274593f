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
      let (placement, leftovers) = placeIfThereIsRoom(companion, of: owner, for: key, in: subject)
      finish(leftovers)
      if let placement { return placement }
      makeRoom()
    }
  }

  /// Adds a client and its companion at the end, unless the list is full: then returns nil.
  ///
  /// For a caller who holds another lock, and finishes the leftovers without it.
  func placeIfThereIsRoom(
    _ companion: Companion, of owner: AnyObject, for key: ClientKey,
    in subject: (AnyObject & Sendable)?
  ) -> (Placement?, Leftovers) {
    withStateHandingOut { state, toRelease -> Placement? in
      if state.isClosed { return .closed }
      if let box = findAlive(key, in: &state, droppingInto: &toRelease),
        let companion = box.companion
      {
        return .existing(companion)
      }
      if state.isFull { return nil }
      let reference = unsafe Unmanaged.passUnretained(companion)
      let number = unsafe withUnsafePointer(to: reference) { bits in
        unsafe append(
          owner, bits: UnsafeRawPointer(bits), in: subject, to: &state, droppingInto: &toRelease)
      }
      return number.map { .added($0) } ?? .refused
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
    prepareToReplace(old, of: owner)
    let (number, leftovers) = replaceHandingOut(old, with: new, of: owner, in: subject)
    finish(leftovers)
    return number
  }

  /// Makes nearly all of the copy that a replacement needs while somebody walks, in steps.
  func prepareToReplace(_ old: Companion, of owner: AnyObject) {
    let key = ClientKey(ObjectIdentifier(owner)) { box in box.hasCompanion(old) }
    while !withState(
      leavingSuccessor: true,
      { state, toRelease in isReady(toReplace: key, in: &state, &toRelease) })
    {}
  }

  /// The same as ``replace(_:with:of:in:)`` for a caller who holds another lock, and finishes the
  /// leftovers without it.
  func replaceHandingOut(
    _ old: Companion, with new: Companion, of owner: AnyObject, in subject: (AnyObject & Sendable)?
  ) -> (number: UInt64?, Leftovers) {
    let key = ClientKey(ObjectIdentifier(owner)) { box in box.hasCompanion(old) }
    return withStateHandingOut { state, toRelease -> UInt64? in
      if state.current.find(key) != nil, state.successor == nil, state.current.isWalked {
        state.beginSuccessor()
      }
      installSuccessor(&state, droppingInto: &toRelease)
      guard let box = state.current.find(key) else { return nil }
      let number = state.nextNumber
      state.moves.append(
        RecentMoves.Move(
          old: box.number, new: Registration(identity: box.identity, number: number),
          from: box.group))
      state.nextNumber += 1
      let group = subject.map { state.current.group(of: $0) }
      if let companion = state.current.replaceCompanion(
        of: box, with: new, number: number, group: group)
      {
        toRelease.append(companion)
      }
      publish(state)
      reclaim(&state, droppingInto: &toRelease)
      return number
    }
  }

  /// Goes a step towards a generation that no walk is in. Returns whether next to nothing is left to do.
  private func isReady(
    toReplace key: ClientKey, in state: inout State, _ toRelease: inout [AnyObject]
  ) -> Bool {
    guard state.current.count > ClientGeneration.largestStep, state.current.find(key) != nil else {
      return true
    }
    if state.successor == nil {
      guard state.current.isWalked else { return true }
      state.beginSuccessor()
    }
    return advanceSuccessor(&state, droppingInto: &toRelease)
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
