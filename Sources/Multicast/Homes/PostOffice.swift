import Dispatch
import Synchronization

/// The homes of a center, and the order in which posts reach them.
///
/// A delegate that stands alone has an office of its own.
@usableFromInline
final class PostOffice: Sendable {
  /// Whose calls a lane takes, one after the other.
  enum LaneKey: Hashable, Sendable {
    /// Those of a client, by its identity. A new client on a dead one's address may find its lane still
    /// under way: then its calls wait a little longer.
    case client(UInt)

    /// Those of one registration.
    case registration(ObjectIdentifier, UInt64)
  }

  /// What a mailbox is found by.
  enum MailboxKey: Hashable, Sendable {
    case object(ObjectIdentifier)

    /// A global queue, by its label: on some systems, each look at it makes another object.
    case globalQueue(String)
  }

  struct State {
    /// The mailboxes of actors and queues, by their identities. Those that nobody else refers to any more are
    /// let go of now and then.
    private var mailboxes: [MailboxKey: Mailbox] = [:]

    /// The number of mailboxes at which those that have ended are looked for.
    private var limit = 16

    /// The lanes that have letters.
    private var lanes: [LaneKey: Mailbox] = [:]

    /// The number of the last letter.
    private var lastNumber: UInt64 = 0

    /// A number for letters that are left together.
    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    /// The mailbox of an actor or a queue, which the caller holds.
    ///
    /// - Parameter dropped: Receives what must not end with the lock held.
    mutating func mailbox(
      of key: MailboxKey, orMake make: () -> Mailbox, droppingInto dropped: inout [Mailbox]
    ) -> Mailbox {
      if let mailbox = mailboxes[key] {
        // The home may have been another object on this address.
        if mailbox.home.isHome(of: key) { return mailbox }
        dropped.append(mailbox)
      }
      let mailbox = make()
      mailboxes[key] = mailbox
      if mailboxes.count > limit { dropUnused(into: &dropped) }
      return mailbox
    }

    /// Lets go of the mailboxes that only this table refers to. With the lock held, nobody else can find one.
    private mutating func dropUnused(into dropped: inout [Mailbox]) {
      for key in Array(mailboxes.keys) {
        guard let index = mailboxes.index(forKey: key),
          isKnownUniquelyReferenced(&mailboxes.values[index])
        else { continue }
        dropped.append(mailboxes.remove(at: index).value)
      }
      limit = max(16, 2 * mailboxes.count)
    }

    mutating func lane(_ key: LaneKey, orMake make: () -> Mailbox) -> Mailbox {
      if let lane = lanes[key] { return lane }
      let lane = make()
      lanes[key] = lane
      return lane
    }

    /// The lane of this key, if it has letters.
    func existingLane(_ key: LaneKey) -> Mailbox? { lanes[key] }

    mutating func removeLane(_ key: LaneKey) { lanes[key] = nil }
  }

  @usableFromInline
  let reentrancyGuard: ReentrancyGuard

  /// What is done with posts beside delivering them; nil if it is nothing.
  let tracing: PostTracing?

  /// Kept here, because to find a global takes a look whether it has been made.
  let threads = DeliveryChain.ofThreads

  private let state = Locked(State())

  /// Whether there was ever a lane, so that a removal without any takes no lock.
  private let lanesExist = Atomic<Bool>(false)

  init(reentrancyGuard: ReentrancyGuard, tracing: PostTracing?) {
    self.reentrancyGuard = reentrancyGuard
    self.tracing = tracing
  }

  /// Calls `body` with the lock held, under which letters are left and taken over.
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in body(&state) }
  }
}

// MARK: - Lanes

extension PostOffice {
  /// The lane of a key, with the office's lock held.
  func lane(_ key: LaneKey, in state: inout State) -> Mailbox {
    lanesExist.store(true, ordering: .relaxed)
    return state.lane(key) { Mailbox(.lane(key)) }
  }

  /// Throws away what waits in a lane for a list. Not with a lock held.
  func giveUpLane(_ key: LaneKey, of list: ClientList) {
    guard lanesExist.load(ordering: .relaxed) else { return }
    let lane = withLock { state in state.existingLane(key) }
    lane?.giveUpLetters(in: self) { letter in unsafe letter.post.list === list }
  }
}

// MARK: - Mailboxes

extension PostOffice {
  /// The mailbox of an actor.
  func mailbox(of actor: any Actor) -> Mailbox {
    mailbox(of: .object(ObjectIdentifier(actor))) { Mailbox(.actor(WeakActor(actor))) }
  }

  /// The mailbox of a queue. The main queue is the main actor's home.
  func mailbox(of queue: DispatchQueue) -> Mailbox {
    if queue.isMain { return mailbox(of: MainActor.shared) }
    let key: MailboxKey =
      queue.isGlobal ? .globalQueue(queue.label) : .object(ObjectIdentifier(queue))
    return mailbox(of: key) { Mailbox(.queue(MarkedQueue(queue))) }
  }

  private func mailbox(of key: MailboxKey, orMake make: () -> Mailbox) -> Mailbox {
    let (mailbox, dropped) = withLock { state in
      var dropped: [Mailbox] = []
      let mailbox = state.mailbox(of: key, orMake: make, droppingInto: &dropped)
      return (mailbox, dropped)
    }
    extendLifetime(dropped)
    return mailbox
  }
}

extension Home {
  /// Whether this home has a key; the object that had it may have been another one.
  fileprivate func isHome(of key: PostOffice.MailboxKey) -> Bool {
    switch (self, key) {
    case (.actor(let reference), .object(let identity)):
      reference.actor.map { ObjectIdentifier($0) } == identity
    case (.queue(let queue), .object(let identity)): ObjectIdentifier(queue.queue) == identity
    case (.queue, .globalQueue): true
    case (.actor, .globalQueue), (.lane, _): false
    }
  }
}
