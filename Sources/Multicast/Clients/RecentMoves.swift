/// The last registrations of a list that were replaced by others, in other groups: for posts that were made
/// before and have not reached everybody.
///
/// At least 4,096 are kept. A post would have to be calling clients while more than these are replaced to miss
/// one.
struct RecentMoves {
  struct Move: Sendable {
    let old: UInt64
    let new: Registration

    /// The group that the old one was in.
    let from: ClientGroup?
  }

  private static var capacity: Int { 4096 }

  private var moves: [Move] = []

  /// How many there have been.
  private(set) var count = 0

  mutating func append(_ move: Move) {
    if moves.count == 2 * Self.capacity { moves.removeFirst(Self.capacity) }
    moves.append(move)
    count += 1
  }

  /// Those that have come since there were as many as `index`.
  func since(_ index: Int) -> ArraySlice<Move> {
    moves.suffix(count - index)
  }

  /// The registration that has replaced one of this number.
  func successor(of number: UInt64) -> Registration? {
    moves.last { $0.old == number }?.new
  }
}

extension ClientList {
  /// The replacements since there were as many as `index`, and how many there are.
  func moves(since index: Int) -> (ArraySlice<RecentMoves.Move>, count: Int) {
    state.withLock { state in (state.moves.since(index), state.moves.count) }
  }

  /// A registration, or the one that has taken its place at last, with its group; nil if that has ended.
  func current(_ registration: Registration) -> (Registration, ClientGroup?)? {
    state.withLock { state in
      var registration = registration
      while true {
        if let box = state.current.find(ClientKey(registration)) {
          return (registration, box.group)
        }
        guard let next = state.moves.successor(of: registration.number) else { return nil }
        registration = next
      }
    }
  }
}
