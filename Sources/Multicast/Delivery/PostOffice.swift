import Dispatch

/// The mailboxes of a center, and the lock that orders the letters in all of them. A standalone delegate has an office of its
/// own.
///
/// A thread that holds several locks has taken them in this order: a topic registry's, the office's, that of one list or one
/// handler. No lock is held while client code runs.
@usableFromInline
final class PostOffice: Sendable {
  /// What the lock protects, with the state of every ``Mailbox`` and ``LatestPost``.
  struct State {
    /// The mailboxes of actors and queues, by address. Unused ones are removed now and then.
    private var mailboxes: [UInt: Mailbox] = [:]

    /// The number of mailboxes at which unused ones are removed.
    private var limit = 16

    /// The mailbox that was looked up last.
    private var recent: Mailbox?

    /// The mailboxes of clients that are awaited in tasks of their own, by identity, while letters wait there. A new client at
    /// a deallocated one's address may share its mailbox for a while.
    private var clientMailboxes: [UInt: Mailbox] = [:]

    /// The number of posts that were kept.
    var keptPosts: UInt64 = 0

    /// The number of mailboxes with letters, or where a thread or a drain is at work.
    var busy = 0

    /// Resumed when nothing is busy.
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0

    /// A mailbox in which many letters wait, to report after unlocking.
    var crowded: Mailbox?

    /// Mailboxes to release after unlocking.
    fileprivate var dropped: [Mailbox] = []

    /// The mailbox of the actor or the queue at an address, which the caller holds.
    @inline(__always)
    fileprivate mutating func mailbox(at address: UInt, _ kind: () -> Home.Kind) -> Mailbox {
      if let recent, recent.isAt(address) { return recent }
      if let mailbox = mailboxes[address] {
        // The address may have belonged to another object.
        if mailbox.isAt(address) {
          recent = mailbox
          return mailbox
        }
        dropped.append(mailbox)
      }
      let mailbox = Mailbox(kind())
      (mailboxes[address], recent) = (mailbox, mailbox)
      if mailboxes.count > limit { dropUnused() }
      return mailbox
    }

    /// Removes the mailboxes that only this table refers to. With the lock held, no reference can be added.
    private mutating func dropUnused() {
      for key in Array(mailboxes.keys) {
        guard let index = mailboxes.index(forKey: key),
          isKnownUniquelyReferenced(&mailboxes.values[index])
        else { continue }
        dropped.append(mailboxes.remove(at: index).value)
      }
      limit = max(16, 2 * mailboxes.count)
    }

    /// The mailbox of a client's task.
    mutating func mailbox(ofClient client: UInt) -> Mailbox {
      if let mailbox = clientMailboxes[client] { return mailbox }
      let mailbox = Mailbox(.task(client: client))
      clientMailboxes[client] = mailbox
      return mailbox
    }

    mutating func removeMailbox(ofClient client: UInt) { clientMailboxes[client] = nil }

    func isMailbox(_ mailbox: ObjectIdentifier, ofClient client: UInt) -> Bool {
      clientMailboxes[client].map { ObjectIdentifier($0) } == mailbox
    }

    /// Counts a mailbox that begins or ends to be busy.
    mutating func count(_ mailbox: Mailbox, isBusy: Bool) {
      busy += isBusy ? 1 : -1
      if !isBusy, case .task(let client?, _) = mailbox.kind { removeMailbox(ofClient: client) }
    }

    /// What is to be released, resumed and reported after unlocking.
    @inline(never)
    fileprivate mutating func takeFinished() -> (
      crowded: Mailbox?, waiters: [UInt64: Waiter], dropped: [Mailbox]
    ) {
      defer { (crowded, dropped) = (nil, []) }
      return (crowded, busy > 0 ? [:] : exchange(&waiters, with: [:]), dropped)
    }
  }

  @usableFromInline let loopGuard: LoopGuard

  /// Reports posts and carries values; nil if there is nothing to do.
  let tracing: Tracing?

  /// Decides when the letters of homes are handled, in a test. Nil if that is as soon as possible.
  let scheduler: (any LetterScheduler)?

  let mainMailbox = Mailbox(.mainActor)

  private let state = Locked(State())

  init(
    reentrancy: ReentrancyPolicy, onRecursion: (@Sendable (RecursiveNotify) -> Void)?,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)?, carrying carried: CarriedValue?,
    scheduler: (any LetterScheduler)? = nil
  ) {
    tracing = Tracing(onDelivery: onDelivery, carrying: carried)
    loopGuard = LoopGuard(
      policy: reentrancy, onRecursion: onRecursion, tracing: tracing)
    self.scheduler = scheduler
  }

  /// Calls `body` with the lock that orders letters.
  @inline(__always)
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, after) = state.withLock { state in
      let result = body(&state)
      let isCalm =
        (state.busy > 0 || state.waiters.isEmpty) && state.dropped.isEmpty && state.crowded == nil
      return (result, isCalm ? nil : state.takeFinished())
    }
    after?.crowded?.reportCrowd()
    // As this ends, it releases the waiters, which resumes them.
    return result
  }
}

// MARK: - Mailboxes

extension PostOffice {
  func mailbox(of actor: any Actor) -> Mailbox {
    if actor === MainActor.shared { return mainMailbox }
    return withLock { state in
      state.mailbox(at: ObjectIdentifier(actor).address) { .actor(WeakActor(actor)) }
    }
  }

  /// The mailbox of a queue. That of the main queue is the main actor's.
  func mailbox(of queue: DispatchQueue) -> Mailbox {
    let address = queue.address
    if address == MarkedQueue.main.address { return mainMailbox }
    return withLock { state in state.mailbox(at: address) { .queue(MarkedQueue(queue)) } }
  }
}
