/// What a mailbox knows: the letters that wait in a home, and whether anybody handles them.
///
/// A value without locks, threads or posts. Each transition returns what its caller must do once the lock that protects the
/// value has been released.
///
/// Whoever *claims* a mailbox, a drain or a thread that posts in the home, calls the clients there, and takes the letters in
/// batches. What comes meanwhile is the next batch. So one call at a time is made in a home, in the order of the letters.
///
/// ```text
///            put                      claimAndTake, claimForDrain
///   idle ─────────────▶ waiting ─────────────────────────────▶ claimed
///    ▲     startDrain                                              │
///    └──────────────── takeNext, release: no letter left ──────────┘
/// ```
struct MailboxState<Letter>: ~Copyable {
  private(set) var letters = WaitingQueue<Letter>()

  /// The number of letters that were taken, until all of them are handled.
  private(set) var taken = 0

  private var isClaimed = false
  private var isDrainScheduled = false

  /// Whether letters wait or are being handled.
  var isBusy: Bool { isClaimed || !letters.isEmpty }

  /// Whether a letter waits and nobody is at work.
  var isReady: Bool { !isClaimed && !letters.isEmpty }
}

extension MailboxState {
  enum PutAction {
    /// Somebody is at work or on the way, or the caller is going to claim the mailbox.
    case none

    case startDrain
  }

  /// Appends a letter.
  ///
  /// - Parameter isHere: Whether the caller runs in this home, and handles the letter itself.
  @inline(__always)
  mutating func put(_ letter: consuming Letter, isHere: Bool) -> PutAction {
    letters.append(letter)
    return isHere ? .none : scheduleDrain()
  }

  enum ClaimAction {
    /// The caller is at work here, until it calls `release` or `takeNext` finds nothing. It handles the letters it has taken.
    case handle

    /// Another thread is at work here, or this one further up its stack. It sees to the letters.
    case leave
  }

  /// Claims the home for a thread that runs in it. What waits there comes first: see `takeAll`.
  @inline(__always)
  mutating func claim() -> ClaimAction {
    if isClaimed { return .leave }
    isClaimed = true
    return .handle
  }

  /// Takes all letters, for who has claimed the home.
  mutating func takeAll(into batch: inout WaitingQueue<Letter>) { take(.max, into: &batch) }

  /// Claims the home for a thread that runs in it, and takes all letters.
  mutating func claimAndTake(into batch: inout WaitingQueue<Letter>) -> ClaimAction {
    let action = claim()
    if action == .handle { takeAll(into: &batch) }
    return action
  }

  /// Claims the home for a drain, which has arrived there, and takes its first letters.
  mutating func claimForDrain(_ limit: Int, into batch: inout WaitingQueue<Letter>) -> TakeAction {
    isDrainScheduled = false
    if isClaimed { return .stop }
    isClaimed = true
    return takeNext(limit, into: &batch)
  }

  enum TakeAction {
    case handle

    /// The claim has ended.
    case stop
  }

  /// Takes the next letters of a drain, whose batch has been handled. Ends its claim if there are none.
  mutating func takeNext(_ limit: Int, into batch: inout WaitingQueue<Letter>) -> TakeAction {
    take(limit, into: &batch)
    if !batch.isEmpty { return .handle }
    letters.reuse(&batch)
    isClaimed = false
    return .stop
  }

  private mutating func take(_ limit: Int, into batch: inout WaitingQueue<Letter>) {
    letters.move(limit, to: &batch)
    taken = batch.count
  }

  /// Ends a claim. Letters that have come meanwhile need a drain.
  @inline(__always)
  mutating func release() -> PutAction {
    (isClaimed, taken) = (false, 0)
    return letters.isEmpty ? .none : scheduleDrain()
  }

  /// Takes back that a drain is scheduled. The next letter asks for one again.
  mutating func unscheduleDrain() { isDrainScheduled = false }

  @inline(__always)
  private mutating func scheduleDrain() -> PutAction {
    if isClaimed || isDrainScheduled { return .none }
    isDrainScheduled = true
    return .startDrain
  }
}
