/// The clients of one listener protocol, or the handlers of one topic: in order, weakly held. Safe on any thread.
///
/// A delivery takes the array of boxes under the lock, and calls the clients without it. Adding copies an array that a
/// delivery holds, so the delivery sees no additions. It sees removals, because they empty boxes. Empty boxes leave the
/// array when they are more than half of it.
///
/// Unchecked, because others inherit from it. It has constants only, and what changes is behind a lock or atomic.
@usableFromInline
class ClientList: @unchecked Sendable {
  /// What the lock protects. With it held, no box is released whose registration has not ended, so no client's code runs.
  private struct State {
    private(set) var boxes: Boxes = []
    private var index = BoxIndex(byClient: true)
    private var keys = BoxIndex(byClient: false)

    /// Whether a box with a key was appended. Until then, no search looks for keys.
    private var hasKeys = false

    /// The number of empty boxes.
    private var emptied = 0

    /// The number of boxes at which those of deallocated clients are emptied before another one is appended.
    private var limit = BoxIndex.largestCountWithoutTable

    /// The boxes by home; nil if it is outdated.
    var roster: Roster?

    /// The addresses of the actors and queues in which a search for deallocated clients waits.
    var searched: Set<UInt> = []

    var isFull: Bool { boxes.count >= limit }

    mutating func append(_ box: WeakBox) {
      // The roster shares the array, which would be copied.
      roster = nil
      boxes.append(box)
      index.insertLast(of: boxes)
      // From the first box with a key on, each further one may be the one at which the list becomes too long for a linear
      // search. A table that grew with the boxes that have keys alone would not be there then.
      hasKeys = hasKeys || box.key != 0
      if hasKeys { keys.insertLast(of: boxes) }
    }

    /// Ends the registration of a box. Returns false if it had ended.
    mutating func empty(_ box: WeakBox) -> Bool {
      index.skip(box, in: boxes)
      keys.skip(box, in: boxes)
      guard box.empty() else { return false }
      emptied += 1
      return true
    }

    /// The box of a live client, which the caller holds. Deallocated ones may have had the same address.
    mutating func find(_ identity: UInt) -> WeakBox? {
      while let box = index.last(identity, in: boxes) {
        if box.isAlive { return box }
        _ = empty(box)
      }
      return nil
    }

    /// The registered boxes of a client, which may be deallocated.
    func boxes(of identity: UInt) -> Boxes { index.all(identity, in: boxes) }

    func hasBoxes(of identity: UInt) -> Bool { index.last(identity, in: boxes) != nil }

    /// The registered boxes with a key, beginning with the last one.
    func boxes(with key: UInt) -> Boxes { hasKeys ? keys.all(key, in: boxes) : [] }

    /// The last registered box with a key.
    func lastBox(with key: UInt) -> WeakBox? { hasKeys ? keys.last(key, in: boxes) : nil }

    /// Drops empty boxes if they are more than half of all. Returns the old state, to release after unlocking.
    mutating func compactIfSparse() -> State? { 2 * emptied > boxes.count ? compact() : nil }

    /// Drops empty boxes, and lets the list grow to twice its size.
    mutating func compact() -> State? {
      if emptied == 0 {
        limit = max(limit, 2 * boxes.count)
        return nil
      }
      var state = State()
      for box in boxes where box.isRegistered { state.append(box) }
      state.limit = max(state.limit, 2 * state.boxes.count)
      state.searched = searched
      return exchange(&self, with: state)
    }
  }

  /// The protocol or the topic, for reports.
  @usableFromInline final let subject: DeliverySubject

  private final let state = Locked(State())

  /// The number of boxes. A `notify` of an empty list takes no lock.
  ///
  /// Released by the thread that adds a client. Another thread that has learned of the client sees at least that number.
  @usableFromInline final let count = Atomic<Int>(0)

  init(_ subject: DeliverySubject) {
    self.subject = subject
  }

  deinit { for box in boxes { box.releaseContents() } }

  /// Whether no client is registered, alive or deallocated. Takes no lock.
  @inlinable final var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }
}

// MARK: - Membership

extension ClientList {
  enum Registration: Sendable {
    case registered

    /// The client is registered or being deinitialized.
    case refused

    /// Another box with the same key has been registered since the known ones were read.
    case changed

    /// Deallocated clients must be looked for first: see ``makeRoom()``.
    case full
  }

  /// Appends the box of a client, which the caller holds, if it is not registered. Amortized O(1).
  final func register(_ box: WeakBox) -> Registration {
    register(box) { state in state.find(box.identity) == nil ? .registered : .refused }
  }

  /// Appends a box. Another lock may be held. Amortized O(1).
  ///
  /// - Parameters:
  ///   - known: The boxes with its key, as ``boxes(with:)`` returned them. If another one has been registered since,
  ///     this registers none. Nil for a box that may be registered beside any other.
  ///   - old: The one of them to remove at the same moment. The caller passes it to ``finishReplacement(of:)``.
  final func register(_ box: WeakBox, among known: Boxes?, replacing old: WeakBox?)
    -> Registration
  {
    register(box) { state in
      // If the last one is known, all of them are, because they are in the order in which they were registered.
      if let known, let last = state.lastBox(with: box.key), !known.contains(where: { $0 === last })
      {
        return .changed
      }
      if let old { _ = state.empty(old) }
      return .registered
    }
  }

  /// Finishes what ``register(_:among:replacing:)`` has begun, which may hold another lock. Call this with no lock held, because it
  /// releases what the replaced box holds, and the boxes that it drops.
  final func finishReplacement(of old: WeakBox) {
    // Replacements empty boxes, too. A list in which handlers only move would otherwise be full before it is compacted.
    removing { _ in }
    old.releaseContents()
  }

  private final func register(_ box: WeakBox, if decide: (inout State) -> Registration)
    -> Registration
  {
    guard box.isAlive else { return .refused }
    return state.withLock { state in
      if state.isFull { return .full }
      let registration = decide(&state)
      if registration == .registered {
        state.append(box)
        count.store(state.boxes.count, ordering: .releasing)
      }
      return registration
    }
  }

  /// Whether boxes of a client are registered, which may be deallocated. Another lock may be held.
  final func hasBoxes(of identity: UInt) -> Bool {
    state.withLock { state in state.hasBoxes(of: identity) }
  }

  /// The registered boxes of an object, which the caller holds, and of deallocated ones that had its address. O(*k*) for *k*
  /// boxes.
  final func boxes(of client: AnyObject) -> Boxes {
    state.withLock { state in state.boxes(of: ObjectIdentifier(client).address) }
  }

  /// The registered boxes with a key, beginning with the last one. O(*k*) for *k* boxes.
  final func boxes(with key: UInt) -> Boxes { state.withLock { state in state.boxes(with: key) } }

  /// Removes a client, which the caller holds. Returns whether it was registered and is not being deinitialized.
  /// Amortized O(1).
  final func remove(_ client: AnyObject) -> Bool {
    state.withLock { state in state.find(ObjectIdentifier(client).address) }.map { remove($0) }
      ?? false
  }

  /// Removes the registrations of an object, which the caller holds, or of all. Returns their number, to which the time is
  /// proportional, amortized.
  @discardableResult
  final func removeAll(of client: AnyObject? = nil) -> Int {
    findSomeDeallocated()
    let ended = removing { state in
      let boxes = client.map { state.boxes(of: ObjectIdentifier($0).address) } ?? state.boxes
      return boxes.filter { box in (client == nil || box.isAlive) && state.empty(box) }
    }
    for box in ended { box.releaseContents() }
    return ended.count
  }

  /// Ends the registration of a box. Called with no lock held. Returns false if it had ended.
  @usableFromInline @inline(never) @discardableResult
  final func remove(_ box: WeakBox) -> Bool {
    guard box.isRegistered, removing({ state in state.empty(box) }) else { return false }
    box.releaseContents()
    return true
  }

  /// Calls `body`, which ends registrations, with the lock held, so that a delivery that begins later sees it.
  private final func removing<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, old) = state.withLock { state in
      let result = body(&state)
      let old = state.compactIfSparse()
      count.store(state.boxes.count, ordering: .releasing)
      return (result, old)
    }
    extendLifetime(old)
    return result
  }

  /// Whether a client is registered. False while it is being deinitialized. O(1).
  final func contains(_ client: AnyObject) -> Bool {
    state.withLock { state in state.find(ObjectIdentifier(client).address) != nil }
  }

  /// Drops the boxes of deallocated clients, and lets the list grow. Called once for each doubling, so adds are amortized
  /// O(1). Returns whether all clients may be loaded here.
  final func makeRoom() -> Bool {
    let mayLoadAll = findDeallocated(in: boxes)
    let old = state.withLock { state in
      defer { count.store(state.boxes.count, ordering: .releasing) }
      return state.compact()
    }
    extendLifetime(old)
    return mayLoadAll
  }
}

// MARK: - Searches

extension ClientList {
  /// Notes that a search for deallocated clients waits in a home. Returns false if one does already.
  final func beginSearch(in home: Home) -> Bool {
    state.withLock { state in state.searched.insert(home.address).inserted }
  }

  final func endSearch(in home: Home) {
    state.withLock { state in _ = state.searched.remove(home.address) }
  }

  final var isSearched: Bool { state.withLock { state in !state.searched.isEmpty } }
}

// MARK: - Delivering

extension ClientList {
  /// All boxes, in order, including empty ones.
  @usableFromInline final var boxes: Boxes { state.withLock { state in state.boxes } }

  /// The boxes that a post is for. Another lock may be held.
  final var roster: Roster {
    state.withLock { state in
      if let roster = state.roster { return roster }
      let roster = Roster(state.boxes)
      state.roster = roster
      return roster
    }
  }
}
