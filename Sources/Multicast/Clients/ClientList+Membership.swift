extension ClientList {
  /// Adds a client at the end. Returns false if it is registered already, or in its `deinit`.
  ///
  /// Amortised O(1).
  ///
  /// - Parameter subject: What the client's group is of, if it is to be in one.
  func add(
    _ client: AnyObject, bits: UnsafeRawPointer, in subject: (AnyObject & Sendable)? = nil
  ) -> Bool {
    let key = ClientKey(client)
    while true {
      let added: Bool? = withState { state, toRelease in
        if findAlive(key, in: &state, droppingInto: &toRelease) != nil { return false }
        if state.isFull { return nil }
        return unsafe append(
          client, bits: bits, in: subject, to: &state, droppingInto: &toRelease) != nil
      }
      if let added { return added }
      makeRoom()
    }
  }

  /// Appends a client to a list that is not full, and returns its number; nil if the client is in its
  /// `deinit`.
  func append(
    _ client: AnyObject, bits: UnsafeRawPointer, in subject: (AnyObject & Sendable)?,
    to state: inout State, droppingInto toRelease: inout [AnyObject]
  ) -> UInt64? {
    let number = state.nextNumber
    let group = subject.map { state.current.group(of: $0) }
    let added = unsafe state.current.append(
      client, number: number, group: group, bits: bits, droppingInto: &toRelease)
    guard added else { return nil }
    state.nextNumber += 1
    publish(state)
    return number
  }

  /// Removes a client, which the caller owns. Returns whether it was registered; a client in its `deinit`
  /// no longer is.
  ///
  /// Amortised O(1).
  func remove(_ client: AnyObject) -> Bool {
    var wasRegistered = false
    remove(ClientKey(client)) { box in wasRegistered = box.isAlive }
    return wasRegistered
  }

  /// Removes what is registered for a key.
  ///
  /// - Parameter body: Is called with the box before, with the lock held. To look there whether the client
  ///   is alive takes a caller who owns the client.
  func remove(_ key: ClientKey, _ body: (WeakBox) -> Void = { _ in }) {
    withState { state, toRelease in
      state.forEachOther { generation in
        // Walks may be under way there, and must see it.
        if let box = generation.find(key) { generation.vacate(box, droppingInto: &toRelease) }
      }
      guard let box = state.current.find(key) else { return }
      body(box)
      state.current.vacate(box, droppingInto: &toRelease)
      reclaim(&state, droppingInto: &toRelease)
    }
  }

  /// Removes all clients that match, with the lock held, so that `matches` must not run a client's code.
  /// O(*n*).
  func removeAll(where matches: (WeakBox) -> Bool = { _ in true }) {
    withState { state, toRelease in
      state.forEachOther { $0.vacateAll(droppingInto: &toRelease, where: matches) }
      state.current.vacateAll(droppingInto: &toRelease, where: matches)
      reclaim(&state, droppingInto: &toRelease)
    }
  }

  /// Removes the registrations of a client, which the caller owns, among those that match, and returns
  /// how many there were. O(*k*) for *k* registrations of this client.
  ///
  /// - Parameter matches: Is asked of boxes of this client, or of a dead one that had its address, with the
  ///   lock held, so that it must not run a client's code.
  func removeAll(of client: AnyObject, where matches: (WeakBox) -> Bool) -> Int {
    let identity = ObjectIdentifier(client).address
    return withState { state, toRelease in
      state.forEachOther { generation in
        _ = generation.vacateAll(of: identity, droppingInto: &toRelease, where: matches)
      }
      let removed = state.current.vacateAll(
        of: identity, droppingInto: &toRelease, where: matches)
      reclaim(&state, droppingInto: &toRelease)
      return removed
    }
  }

  /// Whether a client is registered; a client in its `deinit` no longer is. O(1).
  func contains(_ client: AnyObject) -> Bool {
    withState { state, _ in
      state.current.find(ClientKey(client)).map { box in box.isAlive } ?? false
    }
  }

  /// The box of a key's client, which the caller owns, so that to look at it is safe with the lock
  /// held. A box whose client is dead was somebody else's, on the same address, and goes.
  func findAlive(
    _ key: ClientKey, in state: inout State, droppingInto toRelease: inout [AnyObject]
  ) -> WeakBox? {
    guard let box = state.current.find(key) else { return nil }
    if box.isAlive { return box }
    // Its copy in the successor would be found instead of the one who is added now.
    state.forEachOther { generation in
      if let copy = generation.find(key) { generation.vacate(copy, droppingInto: &toRelease) }
    }
    state.current.vacate(box, droppingInto: &toRelease)
    reclaim(&state, droppingInto: &toRelease)
    return nil
  }
}
