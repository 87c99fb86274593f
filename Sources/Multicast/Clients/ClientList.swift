// How listeners are stored.
//
// A *list* holds the clients of one listener protocol, or the handlers of one topic, weakly and in order. It is an array of
// *boxes*, copied on write, behind one lock. A box is an object that contains the weak reference to one client, the client's
// home, and the client's address, which is 0 once the client is removed: see `WeakBox`. In the list of a topic, the client is
// the owner of a handler.
//
// A delivery takes the array under the lock, and walks it without. These rules follow:
//
// - An `add` while a delivery holds the array copies it, so the delivery does not see the new client.
// - A removal empties the box, which is in both arrays, so every delivery sees it.
// - A removal drops the empty boxes when they are more than half of all.
// - A deallocated client is found by the walk, which cannot load it, or by a search: see ClientList+Walking.swift.
// - A box lives as long as a list, a roster, a search, a delivery or a token holds it.
//
// Long lists find a box by an index: see `BoxIndex`. A post groups the boxes by home: see `Roster`.
//
// Typical use, by `MulticastDelegate`:
//
//     let list = ClientList(.listener((any UserProtocol).self))
//     list.register(ClientBox(client, object, at: home))            // add
//     list.forEach(in: list.boxes) { box in … .called }             // notify
//     for group in list.roster.groups { … }                          // post
//     list.remove(object)                                           // remove
//
// Locks: see `PostOffice` for the order. A thread that holds the lock of a list takes no other lock and runs no client code.
// Client code runs when the last reference to a client or to what a box holds is released. So a method that drops boxes returns
// them, and its caller releases them after unlocking. A strong reference to a client is loaded with the lock held only if the
// caller holds the client.

/// The clients of one listener protocol, or the handlers of one topic: in order, weakly held. You may call it on any thread.
///
/// `@unchecked`, because `TopicList` inherits from it. All its stored properties are constants: the lock with what it protects,
/// an atomic number, and `Sendable` values.
@usableFromInline
class ClientList: @unchecked Sendable {
  /// The protocol or the topic, for reports.
  final let subject: DeliverySubject

  private final let state = Locked(State())

  /// The number of boxes, and one more if deliveries of this list are reported. If it is 0, a delivery has nothing to do, which
  /// saves it the lock.
  ///
  /// It is stored with the lock held. A thread that has learned of a client, by any synchronization, has that store behind it, so
  /// it loads a number that includes the client. A thread that loads a number above 0 takes the lock before it reads anything else.
  /// So every access is relaxed.
  @usableFromInline final let countWithReports = Atomic<Int>(0)

  /// What ``countWithReports`` counts in addition to the boxes, so that a delivery without clients does not return early.
  final let reports: Int

  init(_ subject: DeliverySubject, isReported: Bool = false) {
    self.subject = subject
    reports = isReported ? 1 : 0
    countWithReports.store(reports, ordering: .relaxed)
  }

  deinit { for box in boxes { box.releaseContents() } }

  /// Whether a delivery has nothing to do: no client is registered, alive or deallocated, and deliveries are not reported. Takes
  /// no lock.
  @inlinable final var isSilent: Bool { countWithReports.load(ordering: .relaxed) == 0 }

  /// Whether no client is registered, alive or deallocated. Takes no lock.
  @usableFromInline final var isEmpty: Bool {
    countWithReports.load(ordering: .relaxed) == reports
  }
}

// MARK: - Membership

extension ClientList {
  enum Registration: Sendable {
    case registered

    /// The client is registered already, or is being deinitialized.
    case refused

    /// Another box with the same `idHash` has been registered since the caller has read the known ones.
    case changed

    /// The list is full. Call ``PostOffice/makeRoom(in:)``, and try again.
    case full
  }

  /// Appends the box of a client that the caller holds, unless the client is registered already. Amortized O(1).
  final func register(_ box: WeakBox) -> Registration {
    appendIfRoom(box) { state in state.findAlive(box.identity) == nil ? .registered : .refused }
  }

  /// Appends a box. The caller may hold the office's lock. Amortized O(1).
  ///
  /// - Parameters:
  ///   - known: The boxes with the same `idHash`, as ``boxes(withID:)`` returned them. If another one has been registered since,
  ///     this registers nothing and returns `changed`. Nil for a box that may be registered beside any other.
  ///   - old: The one of the known boxes to remove at the same moment. Pass it to ``finishReplacement(of:)`` afterwards.
  final func register(_ box: WeakBox, among known: Boxes?, replacing old: WeakBox?)
    -> Registration
  {
    appendIfRoom(box) { state in
      // Boxes with one hash are in the order in which they were registered, so all are known if the last one is.
      if let known, let last = state.lastBox(withID: box.idHash),
        !known.contains(where: { $0 === last })
      {
        return .changed
      }
      if let old { _ = state.empty(old) }
      return .registered
    }
  }

  /// Finishes a replacement that ``register(_:among:replacing:)`` has begun. Call this with no lock held, because it releases
  /// what the replaced box holds, and the boxes that the list drops.
  final func finishReplacement(of old: WeakBox) {
    // A replacement empties a box, so the list may have to be compacted. Otherwise a list in which handlers are only replaced
    // would be full before it is compacted.
    removing { _ in }
    old.releaseContents()
  }

  private final func appendIfRoom(_ box: WeakBox, if decide: (inout State) -> Registration)
    -> Registration
  {
    guard box.isAlive else { return .refused }
    return changing { state in
      if state.isFull { return .full }
      let registration = decide(&state)
      if registration == .registered { state.append(box) }
      return registration
    }
  }

  /// Whether the list has boxes. It drops all of them when the last registration ends. The caller may hold the lock of a topic
  /// registry.
  ///
  /// With the lock, so that it sees a registration of each thread that has released the list. ``isEmpty`` alone might not.
  final var hasAnyBox: Bool { state.withLock { state in !state.boxes.isEmpty } }

  /// Whether a client is registered at an address, even a deallocated one. The caller may hold the lock of a topic registry.
  final func hasBoxes(of identity: UInt) -> Bool {
    state.withLock { state in state.hasBoxes(of: identity) }
  }

  /// The registered boxes of an object that the caller holds, and of deallocated objects that had the same address. O(*k*) for
  /// *k* boxes, including empty ones that the list still has.
  final func boxes(of client: AnyObject) -> Boxes {
    state.withLock { state in state.boxes(of: ObjectIdentifier(client).address) }
  }

  /// The registered boxes with an `idHash`, beginning with the last one. O(*k*) for *k* boxes.
  final func boxes(withID hash: UInt) -> Boxes {
    state.withLock { state in state.boxes(withID: hash) }
  }

  /// Removes a client that the caller holds. Returns whether it was registered and is not being deinitialized. Amortized O(1).
  final func remove(_ client: AnyObject) -> Bool {
    // One critical section. If the client's `deinit` calls this, `findAlive` empties the box and returns nil.
    let removed = removing { state in
      let box = state.findAlive(ObjectIdentifier(client).address)
      return box.flatMap { box in state.empty(box) ? box : nil }
    }
    removed?.releaseContents()
    return removed != nil
  }

  /// Removes the registrations of an object that the caller holds, or all registrations. Returns their number; 0 if the object is
  /// being deinitialized. Amortized O(*k*) for *k* registrations.
  @discardableResult
  final func removeAll(of client: AnyObject? = nil) -> Int {
    if client == nil { removeDeallocated(in: boxes) } else { removeDeallocatedIfShort() }
    let ended = removing { state in
      let boxes = client.map { state.boxes(of: ObjectIdentifier($0).address) } ?? state.boxes
      // In the object's `deinit`, no box is alive, and its own cannot be distinguished from those of earlier objects at its
      // address.
      let alive = client == nil ? boxes : boxes.filter { box in box.isAlive }
      return (alive.isEmpty ? boxes : alive).filter { box in state.empty(box) }
    }
    for box in ended { box.releaseContents() }
    return client == nil ? ended.count : ended.count { box in box.isAlive }
  }

  /// Ends the registration of a box, and releases what the box holds. Returns false if the registration had ended already. Call
  /// this with no lock held.
  @usableFromInline @inline(never) @discardableResult
  final func endRegistration(of box: WeakBox) -> Bool {
    guard box.isRegistered, removing({ state in state.empty(box) }) else { return false }
    box.releaseContents()
    return true
  }

  /// Calls `body` with the lock held, to end registrations. Then drops empty boxes if they are the majority.
  private final func removing<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, _) = changing { state in (body(&state), state.compactIfSparse()) }
    return result
  }

  /// Calls `body` with the lock held, to change the boxes. Then stores their number.
  private final func changing<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      defer { countWithReports.store(state.boxes.count + reports, ordering: .relaxed) }
      return body(&state)
    }
  }

  /// Whether a client that the caller holds is registered. False while it is being deinitialized. O(1).
  final func contains(_ client: AnyObject) -> Bool {
    state.withLock { state in state.hasAlive(ObjectIdentifier(client).address) }
  }

  /// Drops the boxes of deallocated clients, and lets the list grow. Returns whether every client may be loaded here. If not,
  /// the homes of the others are searched next: see ``PostOffice/makeRoom(in:)``.
  ///
  /// A full list calls this. Then the list may grow to twice the number of the boxes that are left, so an add is amortized
  /// O(1).
  final func makeRoom() -> Bool {
    let mayLoadAll = removeDeallocated(in: boxes)
    _ = changing { state in state.compact() }
    return mayLoadAll
  }
}

// MARK: - Searches

extension ClientList {
  /// Lets a search for deallocated clients wait in a home. Returns false if one waits there already: it searches these boxes, and
  /// no longer those for which it was sent.
  ///
  /// If the actor of an earlier search was deallocated, this home's may have its address. Then the earlier search takes these
  /// boxes, and cannot load their clients. They are found when the list is full again.
  final func addWaitingSearch(of groups: [Roster.Group], in home: Home) -> Bool {
    // The old groups leave the lock, because they may be the last owners of boxes.
    let old = state.withLock { state in
      state.waitingSearches.updateValue(groups, forKey: home.address)
    }
    return old == nil
  }

  /// Takes the search that waits in a home, so that another one may wait there. Returns what to search.
  final func takeWaitingSearch(in home: Home) -> [Roster.Group] {
    state.withLock { state in state.waitingSearches.removeValue(forKey: home.address) ?? [] }
  }

  /// Whether a search for deallocated clients waits in any home. The tests wait until none does.
  final var hasWaitingSearch: Bool { state.withLock { state in !state.waitingSearches.isEmpty } }
}

// MARK: - Delivering

extension ClientList {
  /// All boxes, in order, including empty ones. The caller shares the array with the list.
  @usableFromInline final var boxes: Boxes { state.withLock { state in state.boxes } }

  /// The boxes by home: the listeners that a post is for. The caller may hold another lock.
  final var roster: Roster {
    state.withLock { state in
      if let roster = state.roster { return roster }
      let roster = Roster(state.boxes)
      state.roster = roster
      return roster
    }
  }
}
