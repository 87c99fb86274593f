/// What a post has to leave for others.
struct Departure {
  /// The clients that live elsewhere.
  var groups: [ClientGroup] = []

  /// The registrations whose calls are awaited.
  var lanes: [(PostOffice.LaneKey, Registration)] = []

  /// The registrations that have to be called with other posts first.
  var queues: [(any PostQueue, Registration)] = []

  /// The registrations that are to have the post because they have taken another one's place: one that the post
  /// was for, and that has not had it.
  var moved: [Registration] = []

  /// The number of replacements up to which this is known.
  var moves = 0

  /// Takes note of replacements that came before the walk began: it comes to nobody who was replaced.
  mutating func note(_ moves: some Sequence<RecentMoves.Move>, before limit: UInt64) {
    for move in moves where move.old < limit && limit <= move.new.number { moved.append(move.new) }
  }

  /// Takes note of replacements since then. The walk has come to everybody whom it was to call: they have had
  /// the post, or told who has taken their place. So these are those who live elsewhere, and those who await.
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

  /// Takes out those that can be called, or have moved. The office's lock is held.
  mutating func takeClosedQueues() -> [Registration] {
    let closed = queues.filter { !$0.0.isOpen }.map(\.1)
    if !closed.isEmpty { queues.removeAll { closed.contains($0.1) } }
    return closed
  }

  var isEmpty: Bool { groups.isEmpty && lanes.isEmpty && moved.isEmpty && queues.isEmpty }
}

extension DeliveryPass {
  /// Reports what was left, also for single clients that live in these other homes.
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
  /// Calls the client in a box, if it is one of those in a range. Returns how many were called.
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
