#if canImport(Dispatch)
  import Dispatch
#endif

/// The mailboxes of a center, and the lock that orders the letters in all of them. A standalone delegate has an office of its
/// own.
///
/// **Locks.** A thread that holds the office's lock, or that of a topic registry, may take the lock of one list or one handler.
/// The director of MulticastTesting takes the office's lock with its own lock held, to ask whether a home is ready, so no
/// scheduler is called with the office's lock held. Every other lock is taken alone.
///
/// No lock is held while client code runs: when a listener is called, when the last reference to a client, a post, a handler or
/// an id is released, when an id is hashed or compared, and when an executor is asked something. One exception: a stored message
/// is copied with the office's lock held (`Post.copy(for:)`). Only a message of a C++ type runs code then, its copy constructor.
@usableFromInline
final class PostOffice: Sendable {
  /// The state that the lock protects, with the state of every ``Mailbox`` and ``LatestStore``.
  struct State {
    /// The mailboxes of actors and queues, by address, and those of the tasks of awaiting handlers, by the mailboxes' own
    /// addresses. Unused ones are removed from time to time.
    private var mailboxes: [UInt: Mailbox] = [:]

    /// The number of mailboxes at which unused ones are removed.
    private var limit = 16

    /// The mailbox that was looked up last.
    private var recent: Mailbox?

    /// The mailboxes of clients that are awaited in tasks, by identity, while they are busy. A new client at
    /// a deallocated one's address may share its mailbox for a while.
    private var clientMailboxes: [UInt: Mailbox] = [:]

    /// The number of the last post that a topic stored; 1 if there was none: see ``LatestStore/newest``.
    var lastNumber: UInt64 = 1

    /// The number of mailboxes in which letters wait, or where a thread or a drain is calling.
    fileprivate var busy = 0

    /// The tasks and threads that wait until the center has settled.
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0

    /// What is left to do after unlocking; nil if that is nothing, as usual.
    fileprivate var afterUnlock: AfterUnlock?

    /// The mailbox of the actor or the queue at an address, which the caller holds.
    @inline(__always)
    fileprivate mutating func mailbox(at address: UInt, _ kind: () -> Home.Kind) -> Mailbox {
      if let recent, recent.isAt(address) { return recent }
      if let mailbox = mailboxes[address], mailbox.isAt(address) {
        recent = mailbox
        return mailbox
      }
      let mailbox = Mailbox(kind())
      insert(mailbox, at: address)
      recent = mailbox
      return mailbox
    }

    fileprivate mutating func insert(_ mailbox: Mailbox, at address: UInt) {
      // The address may have belonged to an object that is deallocated.
      if let old = mailboxes.updateValue(mailbox, forKey: address) {
        makeAfterUnlock().dropped.append(old)
        // `recent` may be `old`, and a later lookup would release that with the lock held.
        recent = nil
      }
      if mailboxes.count > limit { dropUnused() }
    }

    /// Removes the mailboxes that only this table refers to. With the lock held, no reference can be added.
    private mutating func dropUnused() {
      for key in Array(mailboxes.keys) {
        guard let index = mailboxes.index(forKey: key),
          isKnownUniquelyReferenced(&mailboxes.values[index])
        else { continue }
        makeAfterUnlock().dropped.append(mailboxes.remove(at: index).value)
      }
      limit = max(16, 2 * mailboxes.count)
    }

    /// The mailbox of a client's task.
    mutating func mailbox(ofClient client: UInt) -> Mailbox {
      if let mailbox = clientMailboxes[client] { return mailbox }
      let mailbox = Mailbox(.clientTask(client))
      clientMailboxes[client] = mailbox
      return mailbox
    }

    /// Counts a mailbox that becomes busy or idle, for `settled()`. Forgets an idle one of a client's task.
    mutating func countBusy(_ mailbox: Mailbox, _ isBusy: Bool) {
      busy += isBusy ? 1 : -1
      if isBusy { return }
      if case .clientTask(let client) = mailbox.kind { clientMailboxes[client] = nil }
      resumeWaitersIfSettled()
    }

    /// Removes the mailbox of a client's task if nothing has been left there.
    mutating func forgetIfIdle(_ mailbox: Mailbox) {
      if case .clientTask(let client) = mailbox.kind, !read(mailbox, { $0.isBusy }) {
        clientMailboxes[client] = nil
      }
    }

    /// Makes `withLock` resume the waiters after it has unlocked, if the center has settled by then.
    mutating func resumeWaitersIfSettled() {
      if busy == 0, !waiters.isEmpty { _ = makeAfterUnlock() }
    }

    /// The mailboxes of this center, except that of the main actor and those of topics that keep their latest message.
    fileprivate var mailboxesInUse: [Mailbox] {
      Array(mailboxes.values) + Array(clientMailboxes.values)
    }

    /// Returns what is to be done after unlocking. Makes it if there is nothing yet.
    @inline(never)
    mutating func makeAfterUnlock() -> AfterUnlock {
      if let afterUnlock { return afterUnlock }
      let afterUnlock = AfterUnlock()
      self.afterUnlock = afterUnlock
      return afterUnlock
    }
  }

  /// What a thread does after it has released the lock, because client code may run then.
  ///
  /// `@unchecked`: the thread that holds the office's lock uses it, and then the thread that has taken it from the state.
  final class AfterUnlock: @unchecked Sendable {
    /// Mailboxes in which it starts a drain.
    var drains: [Mailbox] = []

    /// Tasks that it resumes.
    var waiters: [Waiter] = []

    /// Mailboxes of which it prints that many letters wait there.
    var crowded: [Mailbox] = []

    /// Mailboxes that it releases.
    var dropped: [Mailbox] = []
  }

  let loopGuard: LoopGuard

  /// Reports posts and carries values; nil if there is nothing to do.
  let tracing: Tracing?

  /// Whether deliveries are reported, even those that no listener hears. Then a delegate or a topic is made when one is looked for.
  @usableFromInline let isReported: Bool

  /// Decides when the letters of homes are handled, in a test. Nil if that is as soon as possible.
  let scheduler: (any LetterScheduler)?

  let mainMailbox = Mailbox(.mainActor)

  /// The number of frames in which threads deliver posts: an outermost `post` has one while it delivers, and so has each batch of
  /// letters that are not awaited, and an `observe` whose handler begins with the latest message. It is marked while a task or a
  /// thread waits for the center to settle.
  ///
  /// It is not in the state, because a post to listeners without a home does not take the office's lock.
  let activeFrames = StripedCounter()

  private let state = Locked(State())

  init(
    reentrancy: ReentrancyPolicy, onRecursion: (@Sendable (RecursiveNotify) -> Void)?,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)?, carrying carried: CarriedValue?,
    scheduler: (any LetterScheduler)? = nil
  ) {
    tracing = Tracing(onDelivery: onDelivery, carrying: carried)
    loopGuard = LoopGuard(
      policy: reentrancy, onRecursion: onRecursion, tracing: tracing)
    isReported = onDelivery != nil
    self.scheduler = scheduler
  }
}

// MARK: - The lock

extension PostOffice {
  /// Calls `body` with the lock held. Then does what `body` has noted for the time after unlocking: it starts drains, resumes tasks
  /// that wait for the center to settle, prints that many letters wait, and releases mailboxes.
  ///
  /// Call this where client code may run. Starting a drain runs code of an executor, and handlers whose home is the posting thread
  /// are called right here.
  @inline(__always)
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, afterUnlock) = state.withLock { state in
      let result = body(&state)
      return (result, state.afterUnlock == nil ? nil : takeAfterUnlock(&state))
    }
    if let afterUnlock { carryOut(afterUnlock) }
    return result
  }

  /// Takes what is to be done after unlocking. If the center has settled, that includes resuming all waiters.
  @inline(never)
  private func takeAfterUnlock(_ state: inout State) -> AfterUnlock? {
    if state.busy == 0, !state.waiters.isEmpty, activeFrames.isZero {
      state.afterUnlock?.waiters = Array(state.waiters.values)
      state.waiters = [:]
      activeFrames.setMark(false)
    }
    return state.afterUnlock.take()
  }

  @inline(never)
  private func carryOut(_ afterUnlock: AfterUnlock) {
    for waiter in afterUnlock.waiters { waiter.resume() }
    for mailbox in afterUnlock.crowded { mailbox.reportCrowd() }
    for mailbox in afterUnlock.drains where !mailbox.isPostingThread { startDrain(of: mailbox) }
    // Last, because this calls handlers, which may wait for the other homes.
    for mailbox in afterUnlock.drains where mailbox.isPostingThread {
      drainOnPostingThread(mailbox)
    }
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

  /// Makes the mailbox of an awaiting handler, whose task runs in an actor.
  func makeMailbox(ofTaskIn actor: (any Actor)?) -> Mailbox {
    let mailbox = Mailbox(.handlerTask(in: actor.map { WeakActor($0) }))
    withLock { state in state.insert(mailbox, at: ObjectIdentifier(mailbox).address) }
    return mailbox
  }

  /// The mailboxes of this center, in no order, except those of topics that keep their latest message, which the topics own. A
  /// mailbox in which letters wait is among them even if its listeners have all been removed; but not if its actor has been
  /// deallocated and another home has its address by now.
  var mailboxes: [Mailbox] { withLock { state in state.mailboxesInUse } + [mainMailbox] }
}
