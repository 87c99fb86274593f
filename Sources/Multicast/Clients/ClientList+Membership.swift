extension ClientList {
  /// Appends a client. Returns false if it is registered or being deinitialized; nil if the list keeps posts,
  /// which the client must begin with: see `addHandingOut`. Amortized O(1).
  ///
  /// - Parameter mailbox: The mailbox of its home; nil for no home.
  func add(
    _ client: AnyObject, bits: UnsafeRawPointer, at mailbox: (AnyObject & Sendable)? = nil
  ) -> Bool? {
    let key = ClientKey(client)
    while true {
      // Nil if the list is full.
      let added: Bool?? = withState { state, toRelease in
        if state.homelessMailbox != nil { return .some(nil) }
        if findAlive(key, in: &state, droppingInto: &toRelease) != nil { return false }
        if state.isFull { return nil }
        return unsafe append(
          client, bits: bits, at: mailbox, to: &state, droppingInto: &toRelease) != nil
      }
      if let added { return added }
      makeRoom()
    }
  }

  /// Appends a client to a list that keeps posts. Returns no placement if the list is full.
  ///
  /// Another lock may be held. The caller finishes the leftovers after releasing it. Amortized O(1).
  func addHandingOut(
    _ client: AnyObject, bits: UnsafeRawPointer, at mailbox: (AnyObject & Sendable)?
  ) -> (Placement?, Leftovers) {
    withStateHandingOut { state, toRelease in
      if findAlive(ClientKey(client), in: &state, droppingInto: &toRelease) != nil {
        return .refused
      }
      if state.isFull { return nil }
      let number = unsafe append(
        client, bits: bits, at: mailbox, to: &state, droppingInto: &toRelease)
      return number.map { .added($0) } ?? .refused
    }
  }

  /// Appends a client to a list with room. Returns its number; nil if the client is being deinitialized.
  func append(
    _ client: AnyObject, bits: UnsafeRawPointer, at mailbox: (AnyObject & Sendable)?,
    to state: inout State, droppingInto toRelease: inout [AnyObject]
  ) -> UInt64? {
    let number = state.nextNumber
    let residents = mailbox.map { state.current.residents(of: $0) }
    let added = unsafe state.current.append(
      client, number: number, residents: residents, bits: bits, droppingInto: &toRelease)
    guard added else { return nil }
    state.nextNumber += 1
    publish(state)
    return number
  }

  /// Removes a client, which the caller holds. Returns whether it was registered and is not being
  /// deinitialized. Amortized O(1).
  func remove(_ client: AnyObject) -> Bool {
    var wasRegistered = false
    remove(ClientKey(client)) { box in wasRegistered = box.isAlive }
    return wasRegistered
  }

  /// Removes the registration of a key.
  ///
  /// - Parameter body: Receives the box before, with the lock held. It may check whether the client is alive
  ///   only if the caller holds the client.
  func remove(_ key: ClientKey, _ body: (WeakBox) -> Void = { _ in }) {
    withState { state, toRelease in
      vacate(key, in: &state, droppingInto: &toRelease, body)
    }
  }

  /// Ends the registration of a key in all generations. Walks may be active in each.
  func vacate(
    _ key: borrowing ClientKey, in state: inout State, droppingInto toRelease: inout [AnyObject],
    _ body: (WeakBox) -> Void = { _ in }
  ) {
    state.forEachOther { generation in
      if let box = generation.find(key) { generation.vacate(box, droppingInto: &toRelease) }
    }
    if let box = state.current.find(key) {
      body(box)
      state.current.vacate(box, droppingInto: &toRelease)
    }
    reclaim(&state, droppingInto: &toRelease)
  }

  /// Removes all matching clients. Called with the lock held, `matches` must not run a client's code. O(*n*).
  func removeAll(where matches: (WeakBox) -> Bool = { _ in true }) {
    withState { state, toRelease in
      state.forEachOther { $0.vacateAll(droppingInto: &toRelease, where: matches) }
      state.current.vacateAll(droppingInto: &toRelease, where: matches)
      reclaim(&state, droppingInto: &toRelease)
    }
  }

  /// Removes the matching registrations of a client, which the caller holds, and returns their number. O(*k*)
  /// for *k* registrations of this client.
  ///
  /// Called with the lock held, `matches` must not run a client's code. It may receive the box of a
  /// deallocated client with the same address.
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

  /// Whether a client is registered. False while it is being deinitialized. O(1).
  func contains(_ client: AnyObject) -> Bool {
    withState { state, _ in
      state.current.find(ClientKey(client)).map { box in box.isAlive } ?? false
    }
  }

  /// The box of a key's client. The caller holds the client, so it cannot end here with the lock held.
  /// Vacates the boxes of a deallocated client with the same address.
  func findAlive(
    _ key: ClientKey, in state: inout State, droppingInto toRelease: inout [AnyObject]
  ) -> WeakBox? {
    let box = state.current.find(key)
    if let box, box.isAlive { return box }
    // A walk may have vacated the box here and not its copy in the successor, which later searches would find.
    if box != nil || state.successor != nil { vacate(key, in: &state, droppingInto: &toRelease) }
    return nil
  }
}
