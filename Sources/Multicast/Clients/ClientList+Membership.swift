extension ClientList {
  /// Adds a client at the end. Returns false if it is registered already, or in its `deinit`.
  ///
  /// Amortised O(1).
  func add(_ client: AnyObject, bits: UnsafeRawPointer, home: (any Actor)?) -> Bool {
    let key = ClientKey(client)
    while true {
      let added: Bool? = withState { state, garbage in
        if findAlive(key, in: &state, droppingInto: &garbage) != nil { return false }
        if state.current.isFull { return nil }
        let added = unsafe state.current.append(
          client, identity: key.identity, bits: bits, home: home)
        publishCount(state)
        return added
      }
      if let added { return added }
      makeRoom()
    }
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
    withState { state, garbage in
      for index in unsafe state.retired.indices {
        // Walks may be under way there, and must see it.
        guard let box = unsafe state.retired[index].pointee.find(key) else { continue }
        unsafe state.retired[index].pointee.vacate(box, droppingInto: &garbage)
      }
      guard let box = state.current.find(key) else { return }
      body(box)
      state.current.vacate(box, droppingInto: &garbage)
      reclaim(&state, droppingInto: &garbage)
    }
  }

  /// Removes all clients that match, with the lock held, so that `matches` must not run a client's code.
  /// O(*n*).
  func removeAll(where matches: (WeakBox) -> Bool = { _ in true }) {
    withState { state, garbage in
      for index in unsafe state.retired.indices {
        unsafe state.retired[index].pointee.vacateAll(droppingInto: &garbage, where: matches)
      }
      state.current.vacateAll(droppingInto: &garbage, where: matches)
      reclaim(&state, droppingInto: &garbage)
    }
  }

  /// Removes the registrations of a client, which the caller owns, among those that match, and returns
  /// how many there were. O(*n*).
  func removeAll(of client: AnyObject, where matches: (WeakBox) -> Bool) -> Int {
    withState { state, garbage in
      for index in unsafe state.retired.indices {
        unsafe state.retired[index].pointee.vacateAll(droppingInto: &garbage, where: matches)
      }
      var removed = 0
      state.current.vacateAll(droppingInto: &garbage) { box in
        guard matches(box) else { return false }
        // One that is dead was somebody else, on the same address.
        if box.isAlive { removed += 1 }
        return true
      }
      reclaim(&state, droppingInto: &garbage)
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
  /// held. Identities stem from addresses: a box whose client is dead was somebody else's, and goes.
  func findAlive(
    _ key: ClientKey, in state: inout State, droppingInto garbage: inout [AnyObject]
  ) -> WeakBox? {
    guard let box = state.current.find(key) else { return nil }
    if box.isAlive { return box }
    state.current.vacate(box, droppingInto: &garbage)
    reclaim(&state, droppingInto: &garbage)
    return nil
  }
}
