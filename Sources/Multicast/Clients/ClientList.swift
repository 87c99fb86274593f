import Synchronization

/// The clients of one listener protocol or topic: ordered, unique, weakly held. Safe on any thread.
///
/// It knows only the size of the listener type. The code that has a ``Walk`` calls the clients, without a
/// lock.
///
/// Clients may be added in groups: see ``ClientGroup``.
@usableFromInline
final class ClientList: Sendable {
  /// An object that a list keeps for a client until the client is removed or deallocated, such as a topic's
  /// handler.
  typealias Companion = AnyObject & Sendable

  /// What the lock protects.
  ///
  /// Unchecked, because the compiler does not know where the pointers lead: to memory that this list owns.
  /// Only the lock's holder changes it. What walks read without the lock is atomic, or does not change during
  /// the walk. Clients need not be Sendable; they are held weakly here and not called.
  @safe
  struct State: ~Copyable, @unchecked Sendable {
    var current: ClientGeneration

    /// The generation that will replace the current one, while it is made.
    private(set) var successor: ClientSuccessor?
    private(set) var begunSuccessors: UInt = 0

    /// Replaced generations with active walks.
    var retired: [RetiredGeneration] = []

    /// Whether the list was closed and accepts no clients.
    var isClosed = false

    /// The last replacements, for active posts.
    var moves = RecentMoves()

    var nextNumber: UInt64 = 1

    init(stride: Int, hasCompanions: Bool) {
      current = ClientGeneration(stride: stride, hasCompanions: hasCompanions)
    }

    mutating func beginSuccessor() {
      successor = ClientSuccessor(of: current)
      begunSuccessors &+= 1
    }

    mutating func advanceSuccessor(by limit: Int, droppingInto toRelease: inout [AnyObject]) -> Bool
    {
      successor?.advance(through: current, by: limit, droppingInto: &toRelease) ?? false
    }

    /// Makes the successor the current generation, and returns the old one.
    mutating func installSuccessor() -> RetiredGeneration? {
      guard var generation = successor.take()?.takeGeneration() else { return nil }
      generation.raiseLimit()
      #if DEBUG
        generation.note(current.takeWork())
      #endif
      return RetiredGeneration(exchange(&current, with: generation))
    }

    /// Calls `body` with the other generations that may hold a copy of a registration.
    mutating func forEachOther(_ body: (inout ClientGeneration) -> Void) {
      for retired in retired { body(&retired.generation) }
      successor?.withGeneration(body)
    }
  }

  let stride: Int
  let hasCompanions: Bool
  let state: Locked<State>

  /// The number of boxes. A `notify` of an empty list takes no lock.
  @usableFromInline
  let count = Atomic<Int>(0)

  /// Whether there are groups. A list without them does not pay for them.
  private let groupsExist = Atomic<Bool>(false)

  /// Whether the end of a walk must reclaim something.
  let needsReclaiming = Atomic<Bool>(false)

  /// Whether a registration was ever replaced.
  private let movesExist = Atomic<Bool>(false)

  /// The number of active `notify` calls with `awaiting:`. While it is 0, no thread pays for reading a
  /// task-local value.
  private let awaited = Atomic<Int>(0)
  #if DEBUG
    /// The largest number of boxes and entries processed while the lock was held, for tests.
    let longestHold = Atomic<Int>(0)
  #endif

  /// - Parameters:
  ///   - stride: The distance of boxes in bytes: `WeakBox.stride(for:)`.
  ///   - hasCompanions: Whether the boxes' bits are references to companions.
  init(stride: Int, hasCompanions: Bool = false) {
    self.stride = stride
    self.hasCompanions = hasCompanions
    state = Locked(State(stride: stride, hasCompanions: hasCompanions))
  }

  /// Whether no client is registered, alive or deallocated. Takes no lock.
  @inlinable
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  var hasMoved: Bool { movesExist.load(ordering: .acquiring) }

  var isAwaited: Bool { awaited.load(ordering: .relaxed) != 0 }

  func countAwaited(_ change: Int) { awaited.wrappingAdd(change, ordering: .relaxed) }

  var nextNumber: UInt64 { state.withLock { $0.nextNumber } }

  /// Stores the counts that are read without the lock.
  ///
  /// They are released here and acquired by readers. A thread that added a client, or has learned of it, sees
  /// at least that count.
  func publish(_ state: borrowing State) {
    if state.moves.count > 0 { movesExist.store(true, ordering: .releasing) }
    groupsExist.store(!state.current.groups.isEmpty, ordering: .releasing)
    count.store(state.current.count, ordering: .releasing)
  }
}

// MARK: - Groups

extension ClientList {
  var hasGroups: Bool { groupsExist.load(ordering: .acquiring) }

  /// The groups with registrations, in the order of their first clients.
  var groups: [ClientGroup] {
    guard hasGroups else { return [] }
    let groups = state.withLock { $0.current.groups }
    // Usually there are no empty groups, and nothing is allocated.
    return groups.allSatisfy { $0.count > 0 } ? groups : groups.filter { $0.count > 0 }
  }
}

// MARK: - The lock

extension ClientList {
  /// The work that a caller with another lock must ``finish(_:)`` after releasing it.
  ///
  /// Unchecked, because clients need not be Sendable. They are only released, as a weak reference on any
  /// thread may also do.
  struct Leftovers: @unchecked Sendable {
    fileprivate let objects: [AnyObject]
    fileprivate let hasBegunSuccessor: Bool
  }

  /// Calls `body` with the lock held, and returns the remaining work.
  func withStateHandingOut<Result: Sendable>(
    _ body: (inout State, _ toRelease: inout [AnyObject]) -> Result
  ) -> (Result, Leftovers) {
    state.withLock { state in
      var toRelease: [AnyObject] = []
      let begun = state.begunSuccessors
      let result = body(&state, &toRelease)
      let hasBegun = state.begunSuccessors != begun && state.successor != nil
      return (result, Leftovers(objects: toRelease, hasBegunSuccessor: hasBegun))
    }
  }

  /// Releases the objects, and makes the successor that was begun. Called with no lock held.
  func finish(_ leftovers: consuming Leftovers) {
    let hasBegunSuccessor = leftovers.hasBegunSuccessor
    extendLifetime(consume leftovers)
    if hasBegunSuccessor { makeSuccessor() }
  }

  /// Calls `body` with the lock held. Then releases the objects of `toRelease` with the lock released,
  /// because their `deinit` may use the list.
  ///
  /// If `body` began a successor, makes it before returning, unless `leavingSuccessor`.
  func withState<Result: Sendable>(
    leavingSuccessor: Bool = false, _ body: (inout State, _ toRelease: inout [AnyObject]) -> Result
  ) -> Result {
    var toRelease: [AnyObject] = []
    let (result, hasBegun) = state.withLock { state in
      let begun = state.begunSuccessors
      let result = body(&state, &toRelease)
      #if DEBUG
        noteWork(of: &state)
      #endif
      return (result, state.begunSuccessors != begun && state.successor != nil)
    }
    extendLifetime(consume toRelease)
    if hasBegun, !leavingSuccessor { makeSuccessor() }
    return result
  }

  #if DEBUG
    private func noteWork(of state: inout State) {
      var work = state.current.takeWork()
      state.forEachOther { work += $0.takeWork() }
      longestHold.max(work, ordering: .relaxed)
    }
  #endif
}
