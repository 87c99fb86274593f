import Dispatch
import Synchronization

/// The homes of a center, and the order in which posts reach them. A standalone delegate has an office of its
/// own.
@usableFromInline
final class PostOffice: Sendable {
  /// The owner of a lane, whose calls do not overlap.
  enum LaneKey: Hashable, Sendable {
    /// A client, by its identity. A new client at a deallocated one's address may share its lane for a while.
    case client(UInt)

    /// A registration, by its list and its number.
    case registration(ObjectIdentifier, UInt64)
  }

  enum MailboxKey: Hashable, Sendable {
    case object(ObjectIdentifier)

    /// A global queue, by its label. Some systems return another object each time.
    case globalQueue(String)
  }

  struct State {
    /// The mailboxes of actors and queues. Unused ones are removed now and then.
    private var mailboxes: [MailboxKey: Mailbox] = [:]

    /// The number of mailboxes at which unused ones are removed.
    private var limit = 16

    private var lanes: [LaneKey: Mailbox] = [:]
    private var lastNumber: UInt64 = 0

    /// Returns a number for letters that are left together.
    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    /// The mailbox of an actor or a queue, which the caller holds. `dropped` receives what must be released
    /// after unlocking.
    mutating func mailbox(
      of key: MailboxKey, orMake make: () -> Mailbox, droppingInto dropped: inout [Mailbox]
    ) -> Mailbox {
      if let mailbox = mailboxes[key] {
        // The address may have belonged to another object.
        if mailbox.home.isHome(of: key) { return mailbox }
        dropped.append(mailbox)
      }
      let mailbox = make()
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

    mutating func lane(_ key: LaneKey, orMake make: () -> Mailbox) -> Mailbox {
      if let lane = lanes[key] { return lane }
      let lane = make()
      lanes[key] = lane
      return lane
    }

    func existingLane(_ key: LaneKey) -> Mailbox? { lanes[key] }

    mutating func removeLane(_ key: LaneKey) { lanes[key] = nil }
  }

  @usableFromInline
  let reentrancyGuard: ReentrancyGuard

  /// Reports posts and carries values; nil if there is nothing to do.
  let tracing: PostTracing?

  /// A global variable checks its initialization at each access; a property does not.
  let threads = DeliveryChain.ofThreads

  private let state = Locked(State())

  /// Whether a lane was ever made. Without lanes, a removal takes no lock.
  private let lanesExist = Atomic<Bool>(false)

  init(reentrancyGuard: ReentrancyGuard, tracing: PostTracing?) {
    self.reentrancyGuard = reentrancyGuard
    self.tracing = tracing
  }

  /// Calls `body` with the lock that orders letters.
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in body(&state) }
  }
}

// MARK: - Lanes

extension PostOffice {
  func lane(_ key: LaneKey, in state: inout State) -> Mailbox {
    lanesExist.store(true, ordering: .relaxed)
    return state.lane(key) { Mailbox(.lane(key)) }
  }

  /// Discards the letters of a list in a lane. Called with no lock held.
  func giveUpLane(_ key: LaneKey, of list: ClientList) {
    guard lanesExist.load(ordering: .relaxed) else { return }
    let lane = withLock { state in state.existingLane(key) }
    lane?.giveUpLetters(in: self) { letter in letter.isOf(list) }
  }
}

// MARK: - Mailboxes

extension PostOffice {
  func mailbox(of actor: any Actor) -> Mailbox {
    mailbox(of: .object(ObjectIdentifier(actor))) { Mailbox(.actor(WeakActor(actor))) }
  }

  /// The mailbox of a queue. That of the main queue is the main actor's.
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
  /// Whether this is the home with a key. Its address may have belonged to another object.
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
