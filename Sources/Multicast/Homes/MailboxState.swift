/// What follows from a transition of a mailbox.
enum MailboxAction {
  /// Nothing is left to do. Either no letter waits, or its handling is under way: by this thread, by the one that has the claim, or
  /// by a drain that will arrive.
  case nothing

  /// The caller has the claim, and handles the letters that it has taken, if there are any.
  case claimed

  /// The caller, a drain, comes back for the letters that wait.
  case comeBack

  /// A drain is to be started in the home. `PostOffice.State.change` notes that, and `PostOffice.withLock` starts it after it has
  /// unlocked.
  case startDrain
}

/// The letters that wait in a home, and whether a thread is calling there.
///
/// The value knows no locks, threads or posts, so each transition can be tested as a function. A transition changes the value
/// and returns a ``MailboxAction``.
///
/// One thread at a time *claims* a mailbox, and only that thread calls in the home. So calls in a home never overlap, and they
/// have the order of the letters. The thread is a *drain*, which has been sent to the home, or a thread that posts or observes,
/// and runs in the home anyway. It takes letters in batches; what arrives meanwhile is a later batch, or for a drain.
///
/// Every thread:
///
/// | state                         | `put`                   | `claim`            | `claimForDrain`, `claimAndTakeAll` |
/// | ----------------------------- | ----------------------- | ------------------ | ---------------------------------- |
/// | idle                          | waiting: `startDrain` ¹ | claimed: `claimed` | idle: `nothing`                    |
/// | waiting, for a drain          | waiting: `nothing`      | claimed: `claimed` | claimed: `claimed`                 |
/// | waiting, for a caller here    | waiting: `startDrain` ¹ | claimed: `claimed` | claimed: `claimed`                 |
/// | claimed                       | claimed: `nothing`      | claimed: `nothing` | claimed: `nothing`                 |
///
/// The thread that has the claim:
///
/// |                 | `takeNextOrEndClaim` | `endClaim`              | `endTurn`             |
/// | --------------- | -------------------- | ----------------------- | --------------------- |
/// | if letters wait | claimed: `claimed`   | waiting: `startDrain` ¹ | waiting: `comeBack`   |
/// | if none waits   | idle: `nothing`      | idle: `nothing`         | idle: `nothing`       |
///
/// ¹ `nothing` if an earlier drain is still on its way, or if the caller of `put` is here.
///
/// A drain that arrives in an idle or claimed mailbox finds nothing to do, because another thread has handled its letters or is
/// about to. The thread that has the claim starts another drain if letters wait when it ends its claim.
struct MailboxState<Element>: ~Copyable {
  private(set) var letters = WaitingQueue<Element>()

  /// The number of letters in the batch that is being handled.
  private(set) var taken = 0

  private var isClaimed = false
  private var isDrainScheduled = false

  /// Whether letters wait, or a thread is calling.
  var isBusy: Bool { isClaimed || !letters.isEmpty }

  /// Whether letters wait, and no thread is calling.
  var isReady: Bool { !isClaimed && !letters.isEmpty }
}

// MARK: - Leaving letters

extension MailboxState {
  /// Appends a letter.
  ///
  /// - Parameter isHere: Whether the caller runs in this home, so that no drain is needed: after unlocking, the caller handles the
  ///   letter, or the one that has the claim does, or starts a drain.
  @inline(__always)
  mutating func put(_ letter: consuming Element, isHere: Bool) -> MailboxAction {
    letters.append(letter)
    return isHere ? .nothing : scheduleDrain()
  }

  @inline(__always)
  private mutating func scheduleDrain() -> MailboxAction {
    if isClaimed || isDrainScheduled { return .nothing }
    isDrainScheduled = true
    return .startDrain
  }

  /// Forgets that a drain has been asked for. The next letter asks again.
  mutating func unscheduleDrain() { isDrainScheduled = false }
}

// MARK: - Handling letters

extension MailboxState {
  /// Claims the mailbox for a thread that runs in the home. Returns `claimed`, or `nothing` if it is claimed already, by
  /// another thread or further out on this stack.
  @inline(__always)
  mutating func claim() -> MailboxAction {
    if isClaimed { return .nothing }
    isClaimed = true
    return .claimed
  }

  /// Claims the mailbox for a thread that runs in the home, and takes all letters into an empty batch. What arrives later is for a
  /// drain. If no letter waits, the claim ends immediately.
  mutating func claimAndTakeAll(into batch: inout WaitingQueue<Element>) -> MailboxAction {
    claim() == .nothing ? .nothing : takeNextOrEndClaim(.max, into: &batch)
  }

  /// Claims the mailbox for a drain that has arrived, and takes its first batch.
  mutating func claimForDrain(_ limit: Int, into batch: inout WaitingQueue<Element>)
    -> MailboxAction
  {
    isDrainScheduled = false
    return claim() == .nothing ? .nothing : takeNextOrEndClaim(limit, into: &batch)
  }

  /// Takes the next letters into an empty batch, or ends the claim if no letter waits. Only the thread that has the claim does
  /// this.
  mutating func takeNextOrEndClaim(_ limit: Int, into batch: inout WaitingQueue<Element>)
    -> MailboxAction
  {
    letters.move(limit, to: &batch)
    taken = batch.count
    if !batch.isEmpty { return .claimed }
    isClaimed = false
    return .nothing
  }

  /// Ends a claim. Letters that have arrived meanwhile need a drain.
  @inline(__always)
  mutating func endClaim() -> MailboxAction {
    isClaimed = false
    taken = 0
    return letters.isEmpty ? .nothing : scheduleDrain()
  }

  /// Ends the claim of a drain after a turn. Returns `comeBack` if letters wait.
  mutating func endTurn() -> MailboxAction { endClaim() == .startDrain ? .comeBack : .nothing }
}
