import Synchronization

/// The clients of one listener protocol: ordered, each once, weak; for any thread.
///
/// It knows nothing of the listener type but its size. What the type is for, rebuilding clients and
/// calling them, happens in ``ClientCursor``, which walks over a ``Walk`` without a lock.
@usableFromInline
final class ClientList: Sendable {
  /// The boxes that stood in the list when a walk began. Begun and ended by the list, once each.
  @usableFromInline
  @safe
  struct Walk {
    /// Counts the walk's end; which generation it is about can be told from the address.
    let counter: UnsafeMutablePointer<Atomic<Int>>

    @usableFromInline
    let first: ClientSegment

    @usableFromInline
    let count: Int
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

    init(stride: Int) {
      current = ClientGeneration(stride: stride)
    }
  }

  private let stride: Int
  private let state: Locked<State>

  /// The number of boxes, so that a notify nobody hears ends without the lock.
  private let count = Atomic<Int>(0)

  /// Whether the end of a walk has something to reclaim.
  private let hasGarbage = Atomic<Bool>(false)

  /// - Parameter stride: The bytes from one box to the next: `WeakBox.stride(for:)`.
  init(stride: Int) {
    self.stride = stride
    state = Locked(State(stride: stride))
  }

  deinit {
    // Walks belong to methods of the list's owner, so none is under way.
    state.withLock { state in
      while let generation = unsafe state.retired.popLast() { unsafe Self.free(generation) }
    }
  }

  /// Whether no client is registered, dead or alive. Takes no lock.
  @usableFromInline
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }
}

// MARK: - Membership

extension ClientList {
  /// Adds a client at the end. Returns false if it is registered already, or in its `deinit`.
  ///
  /// Amortised O(1).
  func add(_ client: AnyObject, bits: UnsafeRawPointer, home: (any Actor)?) -> Bool {
    while true {
      let added: Bool? = state.withLock { state in
        if let box = state.current.find(ObjectIdentifier(client).address) {
          // Identities are addresses. If this client is not the one in the box, that one is dead.
          if box.isAlive { return false }
          state.current.vacate(box)
        }
        if state.current.isFull { return nil }
        let added = unsafe state.current.append(client, bits: bits, home: home)
        publishCount(state)
        return added
      }
      if let added { return added }
      makeRoom()
    }
  }

  /// Removes a client. Returns whether it was registered; a client in its `deinit` no longer is.
  ///
  /// Amortised O(1).
  func remove(_ client: AnyObject) -> Bool {
    state.withLock { state in
      let identity = ObjectIdentifier(client).address
      for index in unsafe state.retired.indices {
        // Walks may be under way there, and must see it.
        unsafe state.retired[index].pointee.find(identity)?.vacate()
      }
      guard let box = state.current.find(identity) else { return false }
      let wasRegistered = box.isAlive
      state.current.vacate(box)
      reclaim(&state)
      return wasRegistered
    }
  }

  func removeAll() {
    state.withLock { state in
      for index in unsafe state.retired.indices {
        unsafe state.retired[index].pointee.vacateAll()
      }
      state.current.vacateAll()
      reclaim(&state)
    }
  }

  /// Whether a client is registered; a client in its `deinit` no longer is. O(1).
  func contains(_ client: AnyObject) -> Bool {
    state.withLock { state in
      let box = state.current.find(ObjectIdentifier(client).address)
      return box.map { box in box.isAlive } ?? false
    }
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
        counter: state.current.endedWalks, first: state.current.first, count: state.current.count)
    }
  }

  /// Ends a walk.
  ///
  /// - Parameter vacated: How many boxes the walk vacated because it found their clients dead.
  @usableFromInline
  func endWalk(_ walk: Walk, vacated: Int) {
    if vacated > 0 {
      state.withLock { state in
        guard unsafe state.current.endedWalks == walk.counter else { return }
        state.current.noteVacated(vacated)
        if state.current.isSparse {
          hasGarbage.store(true, ordering: .sequentiallyConsistent)
        }
      }
    }
    // From here on another thread may free what was walked over.
    unsafe walk.counter.pointee.add(1, ordering: .sequentiallyConsistent)
    if hasGarbage.load(ordering: .sequentiallyConsistent) {
      state.withLock { state in reclaim(&state) }
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
    var vacated = 0
    while alive < limit, let box = boxes.next() {
      if box.load() != nil {
        alive += 1
      } else if box.vacate() {
        vacated += 1
      }
    }
    endWalk(walk, vacated: vacated)
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
    // Dropped after the lock is released: a client's `deinit` may use this list.
    var keptAlive: [AnyObject] = []
    state.withLock { state in
      guard state.current.isFull else { return }
      if state.current.vacant == 0 {
        state.current.raiseLimit()
      } else if state.current.isWalked {
        let retired = UnsafeMutablePointer<ClientGeneration>.allocate(capacity: 1)
        let copy = state.current.copy(keepingAlive: &keptAlive)
        unsafe retired.initialize(to: exchange(&state.current, with: copy))
        unsafe state.retired.append(retired)
        reclaim(&state)
      } else {
        state.current.compact()
      }
      publishCount(state)
    }
    withExtendedLifetime(keptAlive) {}
  }

  /// Frees what no walk can reach any more, or leaves it to the end of the last walk.
  private func reclaim(_ state: inout State) {
    guard
      unsafe state.current.isSparse || !state.retired.isEmpty || hasGarbage.load(ordering: .relaxed)
    else { return }
    // Announced first, looked at second; the end of a walk does the opposite.
    hasGarbage.store(true, ordering: .sequentiallyConsistent)
    unsafe state.retired.removeAll { generation in
      guard unsafe !generation.pointee.isWalked else { return false }
      unsafe Self.free(generation)
      return true
    }
    if state.current.isSparse, !state.current.isWalked {
      state.current.compact()
      publishCount(state)
    }
    if unsafe state.retired.isEmpty, !state.current.isSparse {
      hasGarbage.store(false, ordering: .sequentiallyConsistent)
    }
  }

  private func publishCount(_ state: borrowing State) {
    count.store(state.current.count, ordering: .releasing)
  }

  private static func free(_ generation: UnsafeMutablePointer<ClientGeneration>) {
    unsafe generation.deinitialize(count: 1)
    unsafe generation.deallocate()
  }
}
