extension ClientList {
  enum Placement: Sendable {
    /// The client was added with this number.
    case added(UInt64)

    /// The owner has other companions by now.
    case changed

    /// The client is registered or being deinitialized.
    case refused

    case closed
  }

  /// Appends an owner and its companion, which the list keeps. Returns no placement if the list is full.
  ///
  /// Another lock may be held. The caller finishes the leftovers after releasing it. Amortized O(1), and O(*k*)
  /// with `known` companions.
  ///
  /// - Parameters:
  ///   - mailbox: The mailbox of its home; nil for no home.
  ///   - known: The companions that the owner must have; nil for any.
  ///   - old: The one of them to remove at the same moment.
  func place(
    _ companion: Companion, of owner: AnyObject, at mailbox: (AnyObject & Sendable)?,
    expecting known: [Companion]? = nil, replacing old: Companion? = nil
  ) -> (Placement?, Leftovers) {
    withStateHandingOut { state, toRelease -> Placement? in
      if state.isClosed { return .closed }
      if state.isFull { return nil }
      if let known {
        let companions = state.companions(of: ObjectIdentifier(owner))
        guard companions.elementsEqual(known, by: { $0 === $1 }) else { return .changed }
      }
      let reference = unsafe Unmanaged.passUnretained(companion)
      let number = unsafe withUnsafePointer(to: reference) { bits in
        unsafe append(
          owner, bits: UnsafeRawPointer(bits), at: mailbox, to: &state, droppingInto: &toRelease)
      }
      guard let number else { return .refused }
      if let old {
        let key = ClientKey(ObjectIdentifier(owner)) { box in box.hasCompanion(old) }
        vacate(key, in: &state, droppingInto: &toRelease)
      }
      return .added(number)
    }
  }

  /// The companions of an owner, in order. O(*k*) for *k* companions.
  func companions(of owner: AnyObject) -> [Companion] {
    state.withLock { state in state.companions(of: ObjectIdentifier(owner)) }
  }

  /// A number that no registration has. Registrations made before have smaller ones. Another lock may be held.
  func takeNumber() -> UInt64 {
    state.withLock { state in
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
  }

  /// Closes the list permanently if no client is registered. Returns whether it is closed. Another lock may be
  /// held. O(1).
  func closeIfEmpty() -> Bool {
    state.withLock { state in
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

extension ClientList.State {
  /// The companions of an owner, which the caller holds.
  fileprivate func companions(of owner: ObjectIdentifier) -> [ClientList.Companion] {
    var found: [WeakBox] = []
    _ = current.find(
      ClientKey(owner) { box in
        // A deallocated owner may have had the same address.
        if box.isAlive, !found.contains(box) { found.append(box) }
        return false
      })
    // An index finds them in no order.
    return found.sorted { $0.number < $1.number }.compactMap(\.companion)
  }
}
