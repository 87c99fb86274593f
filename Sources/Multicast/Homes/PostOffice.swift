import Dispatch

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

  struct State {
    private struct Reference {
      weak var mailbox: Mailbox?
    }

    /// The mailboxes of actors and queues, by their identities, as long as somebody lives there.
    private var mailboxes: [ObjectIdentifier: Reference] = [:]

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
      of object: AnyObject, orMake make: () -> Mailbox, droppingInto dropped: inout [Mailbox]
    ) -> Mailbox {
      let identity = ObjectIdentifier(object)
      if let mailbox = mailboxes[identity]?.mailbox {
        // The home may have been another object on this address.
        if mailbox.home.isHome(of: object) { return mailbox }
        dropped.append(mailbox)
      }
      let mailbox = make()
      mailboxes[identity] = Reference(mailbox: mailbox)
      if mailboxes.count > limit {
        mailboxes = mailboxes.filter { _, reference in
          guard let mailbox = reference.mailbox else { return false }
          dropped.append(mailbox)
          return true
        }
        limit = max(16, 2 * mailboxes.count)
      }
      return mailbox
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

  /// Kept here, because to find a global takes a look whether it has been made.
  let threads = DeliveryChain.ofThreads

  private let state = Locked(State())

  init(reentrancyGuard: ReentrancyGuard) {
    self.reentrancyGuard = reentrancyGuard
  }

  /// Calls `body` with the lock held, under which letters are left and taken over.
  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in body(&state) }
  }
}

// MARK: - Mailboxes

extension PostOffice {
  /// The mailbox of an actor.
  func mailbox(of actor: any Actor) -> Mailbox {
    mailbox(of: actor) { Mailbox(.actor(WeakActor(actor)), of: self) }
  }

  /// The mailbox of a queue. The main queue is the main actor's home.
  func mailbox(of queue: DispatchQueue) -> Mailbox {
    if queue === DispatchQueue.main {
      return mailbox(of: MainActor.shared)
    }
    return mailbox(of: queue) { Mailbox(.queue(MarkedQueue(queue)), of: self) }
  }

  private func mailbox(of object: AnyObject & Sendable, orMake make: () -> Mailbox) -> Mailbox {
    let (mailbox, dropped) = withLock { state in
      var dropped: [Mailbox] = []
      let mailbox = state.mailbox(of: object, orMake: make, droppingInto: &dropped)
      return (mailbox, dropped)
    }
    extendLifetime(dropped)
    return mailbox
  }
}

extension Home {
  /// Whether an object is this home; what it is not may have had its address.
  fileprivate func isHome(of object: AnyObject) -> Bool {
    switch self {
    case .actor(let reference): reference.actor === object
    case .queue(let queue): queue.queue === object
    case .lane: false
    }
  }
}
