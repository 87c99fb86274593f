import Synchronization

/// The clients of one listener protocol, or of one topic: ordered, each once, weak; for any thread.
///
/// It knows nothing of the listener type but its size. What the type is for, rebuilding clients and
/// calling them, is done by whoever walks over a ``Walk``, without a lock.
///
@usableFromInline
final class ClientList: Sendable {
  /// What a list may keep for each of its clients, and owns as long as the client is registered and
  /// alive: a topic's handler.
  typealias Companion = AnyObject & Sendable

  /// The boxes that stood in the list when a walk began. Begun and ended by the list, once each.
  @usableFromInline
  @safe
  struct Walk {
    /// The counters of the generation that the walk is in, which can be told by their address.
    let counters: UnsafeMutablePointer<ClientGeneration.Counters>

    @usableFromInline
    let first: ClientSegment

    @usableFromInline
    let count: Int

    /// Vacates a box whose client the walk has found dead. Returns whether it was the first to do so.
    @usableFromInline
    func vacate(_ box: WeakBox) -> Bool {
      unsafe box.vacate(countingIn: counters)
    }
  }

  /// What the lock protects.
  ///
  /// Unchecked, because the compiler cannot know what the pointers lead to. They lead to memory that
  /// this list alone owns and that only the holder of its lock changes; what walks read of it
  /// without the lock does not change while they do, or is atomic. Clients, which need not be
  /// Sendable, are referred to weakly here and never called.
  @safe
  private struct State: ~Copyable, @unchecked Sendable {
    var current: ClientGeneration

    /// Generations that were replaced while a walk was under way in them.
    var retired: [UnsafeMutablePointer<ClientGeneration>] = unsafe []

    /// Whether the list takes no more clients, because its owner has given it up.
    var isClosed = false

    init(stride: Int, hasCompanions: Bool) {
      current = ClientGeneration(stride: stride, hasCompanions: hasCompanions)
    }
  }

  private let stride: Int
  private let hasCompanions: Bool
  private let state: Locked<State>

  /// The number of boxes, so that a notify nobody hears ends without the lock.
  @usableFromInline
  let count = Atomic<Int>(0)

  /// Whether the end of a walk has something to reclaim.
  private let hasGarbage = Atomic<Bool>(false)

  /// - Parameters:
  ///   - stride: The bytes from one box to the next: `WeakBox.stride(for:)`.
  ///   - hasCompanions: Whether the bits in the boxes are references to companions.
  init(stride: Int, hasCompanions: Bool = false) {
    self.stride = stride
    self.hasCompanions = hasCompanions
    state = Locked(State(stride: stride, hasCompanions: hasCompanions))
  }

  deinit {
    // Walks belong to methods of the list's owner, so none is under way.
    withState { state, garbage in
      state.current.dropCompanions(into: &garbage)
      while let generation = unsafe state.retired.popLast() {
        unsafe Self.free(generation, droppingInto: &garbage)
      }
    }
  }

  /// Whether no client is registered, dead or alive. Takes no lock.
  @inlinable
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }
}

// MARK: - Membership

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
  private func findAlive(
    _ key: ClientKey, in state: inout State, droppingInto garbage: inout [AnyObject]
  ) -> WeakBox? {
    guard let box = state.current.find(key) else { return nil }
    if box.isAlive { return box }
    state.current.vacate(box, droppingInto: &garbage)
    reclaim(&state, droppingInto: &garbage)
    return nil
  }
}

// MARK: - Companions

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

// MARK: - Walking

extension ClientList {
  /// Begins a walk over the clients of this moment. The lock is held for a few instructions.
  @usableFromInline
  func beginWalk() -> Walk {
    state.withLock { state in
      state.current.beginWalk()
      return unsafe Walk(
        counters: state.current.counters, first: state.current.first, count: state.current.count)
    }
  }

  /// Ends a walk.
  ///
  /// - Parameter foundDead: Whether the walk has vacated boxes of dead clients.
  @usableFromInline
  func endWalk(_ walk: Walk, foundDead: Bool) {
    if foundDead {
      withState { state, _ in
        guard unsafe state.current.counters == walk.counters else { return }
        state.current.noteVacatedByWalk()
        if state.current.hasGarbage { hasGarbage.store(true, ordering: .sequentiallyConsistent) }
      }
    }
    // From here on another thread may free what was walked over.
    unsafe walk.counters.pointee.endedWalks.add(1, ordering: .sequentiallyConsistent)
    if hasGarbage.load(ordering: .sequentiallyConsistent) {
      withState { state, garbage in
        // Where walks overlap without a gap, waiting for one would be waiting for ever, while the dead
        // make every walk longer.
        if state.current.isSparse, state.current.isWalked {
          retireCurrent(&state, droppingInto: &garbage)
        }
        reclaim(&state, droppingInto: &garbage)
      }
    }
  }
}

extension ClientList {
  /// Counts the clients that are alive, as far as `limit`, and vacates the boxes of dead ones.
  ///
  /// Takes no lock on the way, since letting go of a client may run its `deinit`. O(*n*).
  @discardableResult
  func countAlive(upTo limit: Int = .max) -> Int {
    let walk = beginWalk()
    var boxes = BoxCursor(first: walk.first, count: walk.count, stride: stride)
    var alive = 0
    var foundDead = false
    while alive < limit, let box = boxes.next() {
      if box.load() != nil {
        alive += 1
      } else if walk.vacate(box) {
        foundDead = true
      }
    }
    endWalk(walk, foundDead: foundDead)
    return alive
  }
}

// MARK: - Reclaiming

extension ClientList {
  /// Vacates the boxes of dead clients, and closes the gaps or lets the list grow.
  ///
  /// Done once for every doubling, so that an add costs O(1) on average.
  private func makeRoom() {
    countAlive()
    withState { state, garbage in
      guard state.current.isFull else { return }
      if state.current.vacant == 0 {
        state.current.raiseLimit()
      } else if state.current.isWalked {
        retireCurrent(&state, droppingInto: &garbage)
        reclaim(&state, droppingInto: &garbage)
      } else {
        state.current.compact(droppingInto: &garbage)
      }
      publishCount(state)
    }
  }

  /// Replaces the current generation by a copy without gaps, and leaves it to the walks in it.
  private func retireCurrent(_ state: inout State, droppingInto garbage: inout [AnyObject]) {
    let retired = UnsafeMutablePointer<ClientGeneration>.allocate(capacity: 1)
    let copy = state.current.copy(droppingInto: &garbage)
    unsafe retired.initialize(to: exchange(&state.current, with: copy))
    unsafe state.retired.append(retired)
    publishCount(state)
  }

  /// Frees what no walk can reach any more, or leaves it to the end of the last walk.
  private func reclaim(_ state: inout State, droppingInto garbage: inout [AnyObject]) {
    guard
      unsafe state.current.hasGarbage || !state.retired.isEmpty
        || hasGarbage.load(ordering: .relaxed)
    else { return }
    // Announced first, looked at second; the end of a walk does the opposite.
    hasGarbage.store(true, ordering: .sequentiallyConsistent)
    for index in unsafe state.retired.indices.reversed() {
      guard unsafe !state.retired[index].pointee.isWalked else { continue }
      unsafe Self.free(state.retired.remove(at: index), droppingInto: &garbage)
    }
    if state.current.hasGarbage, !state.current.isWalked {
      state.current.reclaim(droppingInto: &garbage)
      publishCount(state)
    }
    if unsafe state.retired.isEmpty, !state.current.hasGarbage {
      hasGarbage.store(false, ordering: .sequentiallyConsistent)
    }
  }

  private func publishCount(_ state: borrowing State) {
    count.store(state.current.count, ordering: .releasing)
  }

  private static func free(
    _ generation: UnsafeMutablePointer<ClientGeneration>, droppingInto garbage: inout [AnyObject]
  ) {
    unsafe generation.pointee.dropCompanions(into: &garbage)
    unsafe generation.deinitialize(count: 1)
    unsafe generation.deallocate()
  }

  /// Calls `body` with the lock held, and afterwards, without it, drops what `body` has thrown away:
  /// the `deinit` of an object whose last reference this was may use the list.
  private func withState<Result: Sendable>(
    _ body: (inout State, _ garbage: inout [AnyObject]) -> Result
  ) -> Result {
    var garbage: [AnyObject] = []
    defer { extendLifetime(garbage) }
    return state.withLock { state in body(&state, &garbage) }
  }
}
