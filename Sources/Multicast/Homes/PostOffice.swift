#if canImport(Dispatch) && !os(WASI)
  import Dispatch
#endif

/// The homes of a center, and the order in which posts reach them. A standalone delegate has an office of its
/// own.
///
/// Order of locks: the office's first, then a list's, an observer's or that of the ``WaitGraph``. None of these
/// is held when another lock of them is taken, and no lock is held while client code runs.
@usableFromInline
final class PostOffice: Sendable {
  /// What the lock protects, with the variables of every ``Mailbox`` and ``Keeper``.
  struct State {
    /// The mailboxes of actors and queues. Unused ones are removed now and then.
    private var mailboxes: [Key: Mailbox] = [:]

    /// The number of mailboxes at which unused ones are removed.
    private var limit = 16

    /// The mailbox that was looked up last.
    private var recent: Mailbox?

    /// The mailboxes of clients that are called in tasks of their own, by identity. A new client at a
    /// deallocated one's address may share its mailbox for a while.
    private var lanes: [UInt: Mailbox] = [:]

    /// The mailboxes of handlers that are at home in them alone. Unused ones are removed now and then.
    private var handlers: [Mailbox] = []

    /// The number of handlers' mailboxes at which unused ones are removed.
    private var handlerLimit = 16

    /// Those who wait for their turn to wait until all is settled; nil if it is nobody's turn.
    var settlers: [any AnyObject & Sendable]?

    #if DEBUG
      /// A mailbox in which too many letters wait, to tell of after unlocking.
      var crowded: Mailbox?
    #endif

    fileprivate enum Key: Hashable {
      case object(ObjectIdentifier)

      /// A global queue, by its label. Some systems return another object each time.
      case globalQueue(String)
    }

    fileprivate func recent(of object: AnyObject) -> Mailbox? {
      recent.flatMap { mailbox in mailbox.place.isPlace(of: object) ? mailbox : nil }
    }

    /// The mailbox of an actor or a queue, which the caller holds. `dropped` receives what must be released
    /// after unlocking.
    fileprivate mutating func mailbox(
      of object: AnyObject, _ key: Key, orMake make: () -> Mailbox,
      droppingInto dropped: inout [Mailbox]
    ) -> Mailbox {
      if let mailbox = mailboxes[key] {
        // The address may have belonged to another object. A global queue's object may be another one.
        if case .globalQueue = key { return mailbox }
        if mailbox.place.isPlace(of: object) {
          recent = mailbox
          return mailbox
        }
        dropped.append(mailbox)
      }
      let mailbox = make()
      recent = mailbox
      mailboxes[key] = mailbox
      if mailboxes.count > limit { dropUnused(into: &dropped) }
      return mailbox
    }

    /// Removes the mailboxes that only this table refers to. With the lock held, no reference can be added.
    private mutating func dropUnused(into dropped: inout [Mailbox]) {
      for key in Array(mailboxes.keys) {
        guard let index = mailboxes.index(forKey: key),
          isKnownUniquelyReferenced(&mailboxes.values[index])
        else { continue }
        dropped.append(mailboxes.remove(at: index).value)
      }
      limit = max(16, 2 * mailboxes.count)
    }

    mutating func lane(of client: UInt) -> Mailbox {
      if let lane = lanes[client] { return lane }
      let lane = Mailbox(.task(client: client))
      lanes[client] = lane
      return lane
    }

    mutating func removeLane(of client: UInt) { lanes[client] = nil }

    /// Adds a handler's mailbox. `dropped` receives what must be released after unlocking.
    fileprivate mutating func add(handler mailbox: Mailbox, droppingInto dropped: inout [Mailbox]) {
      if handlers.count >= handlerLimit {
        var used: [Mailbox] = []
        for index in handlers.indices {
          if isKnownUniquelyReferenced(&handlers[index]) {
            dropped.append(handlers[index])
          } else {
            used.append(handlers[index])
          }
        }
        handlers = used
        handlerLimit = max(16, 2 * used.count)
      }
      handlers.append(mailbox)
    }

    /// All mailboxes but the main actor's. One with letters is among them, even if its handler has ended.
    fileprivate var allButMain: [Mailbox] {
      Array(mailboxes.values) + Array(lanes.values) + handlers
    }
  }

  @usableFromInline
  let reentrancyGuard: ReentrancyGuard

  /// Reports posts and carries values; nil if there is nothing to do.
  let tracing: PostTracing?

  /// Decides when homes come to their letters, in a test; nil if they do as soon as they can.
  let scheduler: (any LetterScheduler)?

  private let mainMailbox = Mailbox(.mainActor)

  private let state = Locked(State())

  init(
    reentrancyGuard: ReentrancyGuard, tracing: PostTracing?,
    scheduler: (any LetterScheduler)? = nil
  ) {
    self.reentrancyGuard = reentrancyGuard
    self.tracing = tracing
    self.scheduler = scheduler
  }

  /// Calls `body` with the lock that orders letters.
  @inline(__always)
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    #if DEBUG
      let (result, crowded) = state.withLock { state in (body(&state), state.crowded.take()) }
      crowded?.tellOfCrowd()
      return result
    #else
      return state.withLock { state in body(&state) }
    #endif
  }
}

// MARK: - Mailboxes

extension PostOffice {
  func mailbox(of actor: any Actor) -> Mailbox {
    if actor === MainActor.shared { return mainMailbox }
    return recentMailbox(of: actor)
      ?? mailbox(of: actor, .object(ObjectIdentifier(actor))) { .actor(WeakActor(actor)) }
  }

  /// The mailbox of a queue. That of the main queue is the main actor's.
  func mailbox(of queue: DispatchQueue) -> Mailbox {
    if let recent = recentMailbox(of: queue) { return recent }
    if queue.isMain { return mainMailbox }
    let key: State.Key =
      queue.isGlobal ? .globalQueue(queue.label) : .object(ObjectIdentifier(queue))
    return mailbox(of: queue, key) { .queue(MarkedQueue(queue)) }
  }

  private func recentMailbox(of object: AnyObject) -> Mailbox? {
    withLock { state in state.recent(of: object) }
  }

  private func mailbox(
    of object: AnyObject, _ key: State.Key, orMakeFor place: () -> Place
  ) -> Mailbox {
    let (mailbox, dropped) = withLock { state in
      var dropped: [Mailbox] = []
      let mailbox = state.mailbox(
        of: object, key, orMake: { Mailbox(place()) }, droppingInto: &dropped)
      return (mailbox, dropped)
    }
    extendLifetime(dropped)
    return mailbox
  }

  /// Makes the mailbox of one handler, for a home that nobody else shares.
  func makeMailbox(ofHandlerIn place: Place) -> Mailbox {
    let mailbox = Mailbox(place)
    let dropped = withLock { state in
      var dropped: [Mailbox] = []
      state.add(handler: mailbox, droppingInto: &dropped)
      return dropped
    }
    extendLifetime(dropped)
    return mailbox
  }

  func allMailboxes(_ state: State) -> [Mailbox] { state.allButMain + [mainMailbox] }
}
