/// The clients of one listener protocol or topic: ordered, unique, weakly held. Safe on any thread.
///
/// It knows only the size of the listener type. The code that has a ``Walk`` calls the clients, without a
/// lock.
///
/// A client may live in a home, which the list knows by its mailbox: see ``Residents``.
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

    var nextNumber: UInt64 = 1

    /// The mailbox of the clients without a home; nil if the list keeps no posts.
    fileprivate(set) var homelessMailbox: (AnyObject & Sendable)?

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

  /// Whether clients have homes, or posts are kept. Other lists do not pay for that.
  private let mailboxesExist = Atomic<Bool>(false)

  /// Whether the end of a walk must reclaim something.
  let needsReclaiming = Atomic<Bool>(false)

  /// The class of the client whose kind was asked for last, and the answer.
  private let recentClass = Atomic<UInt>(0)

  /// The number of active `notify` calls with `awaiting:`. While it is 0, no thread pays for reading a
  /// task-local value.
  private let awaited = Atomic<Int>(0)
  #if DEBUG
    let homeless = HomelessClients()

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

  var isAwaited: Bool { awaited.load(ordering: .relaxed) != 0 }

  func countAwaited(_ change: Int) { awaited.wrappingAdd(change, ordering: .relaxed) }

  /// Stores the counts that are read without the lock.
  ///
  /// They are released here and acquired by readers. A thread that added a client, or has learned of it, sees
  /// at least that count.
  func publish(_ state: borrowing State) {
    mailboxesExist.store(
      !state.current.residents.isEmpty || state.homelessMailbox != nil, ordering: .releasing)
    count.store(state.current.count, ordering: .releasing)
  }
}

// MARK: - Homes

extension ClientList {
  /// Whether a client is an actor.
  ///
  /// Remembers the answer for the class of the last client, because a dynamic cast takes longer than everything
  /// else in an `add`. Relaxed: class and answer are one value. The lowest bit of a class's address is free.
  func isActor(_ client: AnyObject) -> Bool {
    let type = UInt(bitPattern: ObjectIdentifier(Swift.type(of: client)))
    let known = recentClass.load(ordering: .relaxed)
    if known & ~1 == type { return known & 1 == 1 }
    let answer = client is any Actor
    recentClass.store(type | (answer ? 1 : 0), ordering: .relaxed)
    return answer
  }

  var hasMailboxes: Bool { mailboxesExist.load(ordering: .acquiring) }

  /// Makes this a list that keeps posts, with the mailbox of its clients without a home.
  func keepPosts(homeless mailbox: AnyObject & Sendable) {
    state.withLock { state in
      if state.homelessMailbox == nil { state.homelessMailbox = mailbox }
      publish(state)
    }
  }

  /// The mailbox of the clients without a home; nil if the list keeps no posts.
  var homelessMailbox: (AnyObject & Sendable)? { state.withLock { $0.homelessMailbox } }

  /// The clients that a post is for, at one moment.
  struct Audience {
    /// The number of the next registration.
    let limit: UInt64

    /// The clients with homes. Some may be empty.
    let residents: [Residents]

    /// Whether there may be clients without homes.
    let hasHomeless: Bool

    /// Whether the list keeps posts.
    let keepsPosts: Bool

    /// The number of clients, including deallocated ones that no walk has found.
    let count: Int
  }

  /// The clients that a post is for; nil if the list is closed. Another lock may be held.
  var audience: Audience? {
    state.withLock { state in
      state.isClosed
        ? nil
        : Audience(
          limit: state.nextNumber, residents: state.current.residents,
          hasHomeless: state.current.hasHomeless, keepsPosts: state.homelessMailbox != nil,
          count: state.current.count - state.current.vacant)
    }
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
  /// If `body` began a successor, makes it before returning.
  func withState<Result: Sendable>(
    _ body: (inout State, _ toRelease: inout [AnyObject]) -> Result
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
    if hasBegun { makeSuccessor() }
    return result
  }

  #if DEBUG
    private func noteWork(of state: inout State) {
      var work = state.current.takeWork()
      state.forEachOther { work += $0.takeWork() }
      // The lock is held, so this thread alone writes.
      if work > longestHold.load(ordering: .relaxed) { longestHold.store(work, ordering: .relaxed) }
    }
  #endif
}
