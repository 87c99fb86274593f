/// The last registrations of a list that were replaced by others, in other groups: for posts that were made
/// before and have not reached everybody.
///
/// A fixed number is kept. A post would have to be calling clients while more than these are replaced to miss
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
    if moves.count == Self.capacity { moves.removeFirst() }
    moves.append(move)
    count += 1
  }

  /// Those that have come since there were as many as this, with the numbers that they have.
  func since(_ index: Int) -> [(index: Int, move: Move)] {
    let first = count - moves.count
    return moves.indices.dropFirst(max(0, index - first)).map { (first + $0, moves[$0]) }
  }

  /// The registration that has replaced one of this number.
  func successor(of number: UInt64) -> Registration? {
    moves.last { $0.old == number }?.new
  }
}

extension ClientList {
  /// How many registrations have been replaced by others.
  var moveCount: Int { hasMoved ? state.withLock { $0.moves.count } : 0 }

  /// The replacements since there were as many as `index`.
  func moves(since index: Int) -> [(index: Int, move: RecentMoves.Move)] {
    hasMoved ? state.withLock { $0.moves.since(index) } : []
  }

  /// The registration that has replaced another one.
  func successor(of registration: Registration) -> Registration? {
    hasMoved ? state.withLock { $0.moves.successor(of: registration.number) } : nil
  }
}
