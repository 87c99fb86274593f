import Dispatch

/// The homes of a center, and the order in which posts reach them. A standalone delegate has an office of its
/// own.
///
/// Order of locks: the office's first, then a list's or an observer's. None of these is held when another lock of them is
/// taken, and no lock is held while client code runs.
@usableFromInline
final class PostOffice: Sendable {
  /// What the lock protects, with the variables of every ``Mailbox`` and ``Keeper``.
  struct State {
    /// The mailboxes of actors and queues, by address. Unused ones are removed now and then.
    private var mailboxes: [UInt: Mailbox] = [:]

    /// The number of mailboxes at which unused ones are removed.
    private var limit = 16

    /// The mailbox that was looked up last.
    private var recent: Mailbox?

    /// The mailboxes of clients that are called in tasks of their own, by identity. A new client at a
    /// deallocated one's address may share its mailbox for a while.
    private var lanes: [UInt: Mailbox] = [:]

    /// The number of posts that were kept.
    var keptPosts: UInt64 = 0

    /// The number of mailboxes with letters, or where a thread or a drain is at work.
    var busy = 0

    /// Who waits until nothing is busy.
    var settlers: [UInt64: Waiter] = [:]
    var lastSettler: UInt64 = 0

    /// A mailbox in which many letters wait, to report after unlocking.
    var crowded: Mailbox?

    /// What is to be released after unlocking.
    fileprivate var dropped: [Mailbox] = []

    /// The mailbox of the actor or the queue at an address, which the caller holds.
    @inline(__always)
    fileprivate mutating func mailbox(at address: UInt, _ place: () -> Place) -> Mailbox {
      if let recent, recent.place.isAt(address) { return recent }
      if let mailbox = mailboxes[address] {
        // The address may have belonged to another object.
        if mailbox.place.isAt(address) {
          recent = mailbox
          return mailbox
        }
        dropped.append(mailbox)
      }
      let mailbox = Mailbox(place())
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

    func hasLane(_ lane: ObjectIdentifier, of client: UInt) -> Bool {
      lanes[client].map { ObjectIdentifier($0) } == lane
    }

    mutating func lane(of client: UInt) -> Mailbox {
      if let lane = lanes[client] { return lane }
      let lane = Mailbox(.task(client: client))
      lanes[client] = lane
      return lane
    }

    mutating func removeLane(of client: UInt) { lanes[client] = nil }

    /// What is to be released, and reported, after unlocking.
    @inline(never)
    fileprivate mutating func takeFinished() -> (
      crowded: Mailbox?, settlers: [UInt64: Waiter], dropped: [Mailbox]
    ) {
      defer { (crowded, dropped) = (nil, []) }
      return (crowded, busy > 0 ? [:] : exchange(&settlers, with: [:]), dropped)
    }
  }

  @usableFromInline let reentrancyGuard: ReentrancyGuard

  /// Reports posts and carries values; nil if there is nothing to do.
  let tracing: Tracing?

  /// Decides when homes come to their letters, in a test; nil if they do as soon as they can.
  let scheduler: (any LetterScheduler)?

  let mainMailbox = Mailbox(.mainActor)

  private let state = Locked(State())

  init(
    reentrancy: ReentrancyPolicy, onRecursion: (@Sendable (RecursiveNotify) -> Void)?,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)?, carrying carried: CarriedValue?,
    scheduler: (any LetterScheduler)? = nil
  ) {
    tracing = Tracing(onDelivery: onDelivery, carrying: carried)
    reentrancyGuard = ReentrancyGuard(
      policy: reentrancy, onRecursion: onRecursion, tracing: tracing)
    self.scheduler = scheduler
  }

  /// Calls `body` with the lock that orders letters.
  @inline(__always)
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, after) = state.withLock { state in
      let result = body(&state)
      let isCalm =
        (state.busy > 0 || state.settlers.isEmpty) && state.dropped.isEmpty && state.crowded == nil
      return (result, isCalm ? nil : state.takeFinished())
    }
    // Those who have settled go on when this ends.
    after?.crowded?.reportCrowd()
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
