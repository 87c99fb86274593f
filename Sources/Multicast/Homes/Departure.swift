/// The work that a post leaves for other homes.
struct Departure {
  /// The groups of clients that live elsewhere, and the registrations whose calls are awaited.
  var groups: [ClientGroup] = []
  var lanes: [(PostOffice.LaneKey, Registration)] = []

  /// The registrations whose queues must take the post.
  var queues: [(any PostQueue, Registration)] = []

  /// The registrations that replaced others during the post, and have not received it.
  var moved: [Registration] = []

  /// The number of replacements taken into account.
  var moves = 0

  /// Adds replacements made before the walk began. The walk does not meet the registrations they replaced.
  mutating func note(_ moves: some Sequence<RecentMoves.Move>, before limit: UInt64) {
    for move in moves where move.old < limit && limit <= move.new.number { moved.append(move.new) }
  }

  /// Adds replacements made since the walk began. The walk has called every other client or found its
  /// successor, so only clients that live elsewhere and awaited ones matter.
  mutating func noteSinceWalk(_ list: ClientList, before limit: UInt64) {
    guard list.hasMoved else { return }
    let (new, count) = list.moves(since: moves)
    moves = count
    for move in new {
      let lane = lanes.firstIndex { $0.1.number == move.old }
      if let lane { lanes.remove(at: lane) }
      let isElsewhere =
        move.old < limit && move.from.map { from in groups.contains { $0 === from } } == true
      if lane != nil || isElsewhere {
        moved.append(move.new)
      }
    }
  }

  /// Removes and returns the registrations whose queues are closed by now. The office's lock is held.
  mutating func takeClosedQueues() -> [Registration] {
    let closed = queues.filter { !$0.0.isOpen }.map(\.1)
    if !closed.isEmpty { queues.removeAll { closed.contains($0.1) } }
    return closed
  }

  var isEmpty: Bool { groups.isEmpty && lanes.isEmpty && moved.isEmpty && queues.isEmpty }
}

extension DeliveryPass {
  /// Reports the letters. `others` are the homes of single clients.
  func left(_ departure: Departure, others: [Mailbox]) {
    for group in departure.groups where group.count > 0 {
      left(for: group.mailbox.home, clients: group.count)
    }
    for mailbox in others { left(for: mailbox.home, clients: 1) }
    if let (key, _) = departure.lanes.first {
      left(for: .lane(key), clients: departure.lanes.count)
    }
  }
}

extension Walk {
  /// Calls the client in a box if its number is in `range`. Returns the number of calls.
  @inline(__always)
  mutating func call(
    _ box: WeakBox, in range: Range<UInt64>, collecting departure: inout Departure,
    _ call: (WeakBox) -> CallOutcome
  ) -> Int {
    guard range.contains(box.number) else { return 0 }
    switch call(box) {
    case .called: return 1
    case .dead: noteDead(box)
    case .refused: break
    case .awaits(let key): departure.lanes.append((key, box.registration))
    case .queues(let queue, let registration): departure.queues.append((queue, registration))
    case .moved(let registration): departure.moved.append(registration)
    }
    return 0
  }
}

extension PostOffice {
  enum LeaveOutcome {
    case left(Int)

    /// These registrations replaced others and have no home. They must be called first.
    case callAgain([Registration])

    /// Observers with numbers below this one were added. They must be called first.
    case callNew(UInt64)
  }

  /// Leaves a post in all homes at once, or returns which calls must come first.
  ///
  /// A topic's latest message changes at the same moment. Observers added before that moment receive this
  /// post, and later ones begin with it.
  ///
  /// - Parameter seen: The number below which clients without a home have been called.
  func leave(
    _ post: Post, _ departure: inout Departure, seen: UInt64, _ posting: borrowing Posting,
    tellingTo pass: DeliveryPass?
  ) -> LeaveOutcome {
    var toBeDrained: [Mailbox] = []
    var others: [(Mailbox, Registration)] = []
    var dropped: Post?
    let outcome: LeaveOutcome = withLock { state in
      let closed = departure.takeClosedQueues()
      guard closed.isEmpty else { return .callAgain(closed) }
      if let keeper = posting.keeper {
        // A replacement begins anew, and is among the new observers.
        departure.moved = []
        let now = post.list.nextNumber
        guard now == seen else { return .callNew(now) }
        departure.groups = post.list.groups
        dropped = keeper.exchange(post)
      } else {
        departure.noteSinceWalk(post.list, before: seen)
        var near: [Registration] = []
        for registration in departure.moved {
          guard let (last, group) = post.list.current(registration) else { continue }
          if let group {
            others.append((group.mailbox, last))
          } else {
            near.append(last)
          }
        }
        departure.moved = near.isEmpty ? [] : others.map(\.1)
        guard near.isEmpty else { return .callAgain(near) }
      }
      let number = state.nextNumber()
      var count = others.count + departure.lanes.count + departure.queues.count
      // Enqueued at the same moment, because another thread may handle a letter and post an effect.
      for (queue, _) in departure.queues {
        queue.enqueue(QueuedPost(post, receipt: posting.receipt))
      }
      // By index, because a loop over the elements would retain each.
      for index in departure.groups.indices where departure.groups[index].count > 0 {
        count += departure.groups[index].count
        let mailbox = departure.groups[index].mailbox
        let letter = Letter(number, post, to: .home, before: seen, receipt: posting.receipt)
        if mailbox.put(letter) { toBeDrained.append(mailbox) }
      }
      for (mailbox, registration) in others {
        let letter = Letter(number, post, to: .one(registration), receipt: posting.receipt)
        if mailbox.put(letter) { toBeDrained.append(mailbox) }
      }
      for (key, registration) in departure.lanes {
        let lane = lane(key, in: &state)
        let receipt = posting.receipt?.wait(for: lane)
        if lane.put(Letter(number, post, to: .one(registration), receipt: receipt)) {
          toBeDrained.append(lane)
        }
      }
      return .left(count)
    }
    extendLifetime(dropped)
    if let pass, case .left = outcome {
      pass.left(departure, others: others.map(\.0))
    }
    for mailbox in toBeDrained { mailbox.startDrain(of: self) }
    return outcome
  }
}
