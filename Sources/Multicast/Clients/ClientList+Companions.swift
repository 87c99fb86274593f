extension ClientList {
  enum Placement: Sendable {
    /// It was added with this number.
    case added(UInt64)

    /// The client is registered with this companion. Nothing has changed.
    case existing(Companion)

    /// The client is being deinitialized.
    case refused

    case closed
  }

  /// Appends a client and its companion, which the list keeps. Amortized O(1).
  ///
  /// - Parameter subject: The subject of its group; nil for no group.
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

  /// Appends a client and its companion, or returns nil if the list is full.
  ///
  /// For callers that hold another lock, and finish the leftovers after releasing it.
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

  /// Replaces a companion and returns its new number; nil if `old` is no longer registered.
  ///
  /// The client keeps its place in the order. Active walks keep the old companion. The caller holds a strong
  /// reference to the owner. O(1) in the same group without active walks, otherwise O(*n*).
  func replace(
    _ old: Companion, with new: Companion, of owner: AnyObject,
    in subject: (AnyObject & Sendable)? = nil
  ) -> UInt64? {
    prepareToReplace(old, of: owner)
    let (number, leftovers) = replaceHandingOut(old, with: new, of: owner, in: subject)
    finish(leftovers)
    return number
  }

  /// Makes most of the copy that a replacement during walks needs, in steps.
  func prepareToReplace(_ old: Companion, of owner: AnyObject) {
    let key = ClientKey(ObjectIdentifier(owner)) { box in box.hasCompanion(old) }
    while !withState(
      leavingSuccessor: true,
      { state, toRelease in isReady(toReplace: key, in: &state, &toRelease) })
    {}
  }

  /// Like ``replace(_:with:of:in:)``, for callers that hold another lock, and finish the leftovers after
  /// releasing it.
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

  /// Makes one step towards a generation without walks. Returns whether little is left to do.
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

  /// Closes the list permanently if no client is alive. Returns whether it is closed.
  ///
  /// O(1) if the first client is alive.
  func closeIfEmpty() -> Bool {
    guard countAlive(upTo: 1) == 0 else { return false }
    return withState { state, _ in
      if state.current.isEmpty { state.isClosed = true }
      return state.isClosed
    }
  }

  /// Releases the companions of deallocated clients in a short list. In a longer one, the next walk or later
  /// adds do.
  func dropSomeDead() {
    if hasCompanions, count.load(ordering: .relaxed) <= 32 { countAlive() }
  }
}
