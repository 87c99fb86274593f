import Synchronization

/// The clients of one listener protocol, or of one topic: ordered, each once, weak; for any thread.
///
/// It knows nothing of the listener type but its size. What the type is for, rebuilding clients and
/// calling them, is done by whoever has a ``Walk``, without a lock.
///
/// Clients may be added in the group of a subject: see ``ClientGroup``.
@usableFromInline
final class ClientList: Sendable {
  /// What a list may keep for each of its clients, and owns as long as the client is registered and
  /// alive: a topic's handler.
  typealias Companion = AnyObject & Sendable

  /// What the lock protects.
  ///
  /// Unchecked, because the compiler cannot know what the pointers lead to. They lead to memory that
  /// this list alone owns and that only the holder of its lock changes; what walks read of it
  /// without the lock does not change while they do, or is atomic. Clients, which need not be
  /// Sendable, are referred to weakly here and never called.
  @safe
  struct State: ~Copyable, @unchecked Sendable {
    var current: ClientGeneration

    /// What is to follow the current generation, while it is made.
    private(set) var successor: ClientSuccessor?
    private(set) var begunSuccessors: UInt = 0

    /// Generations that were replaced while a walk was under way in them.
    var retired: [RetiredGeneration] = []

    /// Whether the list takes no more clients, because its owner has given it up.
    var isClosed = false

    /// The last registrations that were replaced, for posts that are under way.
    var moves = RecentMoves()

    /// The running number of the next registration.
    var nextNumber: UInt64 = 1

    init(stride: Int, hasCompanions: Bool) {
      current = ClientGeneration(stride: stride, hasCompanions: hasCompanions)
    }

    mutating func beginSuccessor() {
      successor = ClientSuccessor(of: current)
      begunSuccessors &+= 1
    }

    /// Copies as many as `limit` boxes to the successor. Returns whether everybody has been copied.
    mutating func advanceSuccessor(by limit: Int, droppingInto toRelease: inout [AnyObject]) -> Bool
    {
      successor?.advance(through: current, by: limit, droppingInto: &toRelease) ?? false
    }

    /// Puts the successor in the place of the current generation, which is returned.
    mutating func installSuccessor() -> RetiredGeneration? {
      guard var generation = successor.take()?.takeGeneration() else { return nil }
      generation.raiseLimit()
      #if DEBUG
        generation.note(current.takeWork())
      #endif
      return RetiredGeneration(exchange(&current, with: generation))
    }

    /// Calls `body` with the generations beside the current one in which a client may be registered too.
    mutating func forEachOther(_ body: (inout ClientGeneration) -> Void) {
      for retired in retired { body(&retired.generation) }
      successor?.withGeneration(body)
    }
  }

  let stride: Int
  let hasCompanions: Bool
  let state: Locked<State>

  /// The number of boxes, so that a notify nobody hears ends without the lock.
  @usableFromInline
  let count = Atomic<Int>(0)

  /// Whether there are groups, so that a list without them pays nothing for them.
  private let groupsExist = Atomic<Bool>(false)

  /// Whether the end of a walk has something to reclaim.
  let needsReclaiming = Atomic<Bool>(false)

  /// Whether a registration was ever replaced by one with another number.
  private let movesExist = Atomic<Bool>(false)

  /// How many awaiting notifies are delivering this list, so that other lists do not pay for a look at the
  /// task.
  private let awaited = Atomic<Int>(0)
  #if DEBUG
    /// The most boxes and places that were looked after while the lock was held once, for tests.
    let longestHold = Atomic<Int>(0)
  #endif

  /// - Parameters:
  ///   - stride: The bytes from one box to the next: `WeakBox.stride(for:)`.
  ///   - hasCompanions: Whether the bits in the boxes are references to companions.
  init(stride: Int, hasCompanions: Bool = false) {
    self.stride = stride
    self.hasCompanions = hasCompanions
    state = Locked(State(stride: stride, hasCompanions: hasCompanions))
  }

  /// Whether no client is registered, dead or alive. Takes no lock.
  @inlinable
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Whether a registration was ever replaced by one with another number. Takes no lock.
  var hasMoved: Bool { movesExist.load(ordering: .acquiring) }

  /// Whether an awaiting notify is delivering this list, in any task.
  var isAwaited: Bool { awaited.load(ordering: .relaxed) != 0 }

  func countAwaited(_ change: Int) { awaited.wrappingAdd(change, ordering: .relaxed) }

  /// The number that the next registration will have: all that have been made have smaller ones.
  var nextNumber: UInt64 { state.withLock { $0.nextNumber } }

  /// Lets everybody know, without the lock, how many boxes there are and whether there are groups.
  ///
  /// Released here and acquired there: whoever sees the number sees everything before it. Whoever added a
  /// client, or has heard of its having been added, sees at least that.
  func publish(_ state: borrowing State) {
    if state.moves.count > 0 { movesExist.store(true, ordering: .releasing) }
    groupsExist.store(!state.current.groups.isEmpty, ordering: .releasing)
    count.store(state.current.count, ordering: .releasing)
  }
}

// MARK: - Groups

extension ClientList {
  /// Whether there may be groups. Takes no lock.
  var hasGroups: Bool { groupsExist.load(ordering: .acquiring) }

  /// The groups in which somebody is registered, dead or alive, by the time of their first client.
  ///
  /// The lock is held for a few instructions.
  var groups: [ClientGroup] {
    guard hasGroups else { return [] }
    let groups = state.withLock { $0.current.groups }
    // Mostly there is nothing to leave out, and nothing to allocate.
    return groups.allSatisfy { $0.count > 0 } ? groups : groups.filter { $0.count > 0 }
  }
}

// MARK: - The lock

extension ClientList {
  /// What a caller who holds another lock has to ``finish(_:)`` without it.
  ///
  /// Unchecked, because clients need not be Sendable. Nothing is done with them but to let go of them, which
  /// a weak reference on any thread does as well.
  struct Leftovers: @unchecked Sendable {
    fileprivate let objects: [AnyObject]
    fileprivate let hasBegunSuccessor: Bool
  }

  /// Calls `body` with the lock held, and hands out what is to be done without it.
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

  /// Drops what was thrown away, and makes the successor that was begun. Not with a lock held.
  func finish(_ leftovers: consuming Leftovers) {
    let hasBegunSuccessor = leftovers.hasBegunSuccessor
    extendLifetime(consume leftovers)
    if hasBegunSuccessor { makeSuccessor() }
  }

  /// Calls `body` with the lock held, and afterwards, without it, drops what `body` has thrown away:
  /// the `deinit` of an object whose last reference this was may use the list.
  ///
  /// If `body` has begun a successor, it is made before this returns, unless that is left to the caller.
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
