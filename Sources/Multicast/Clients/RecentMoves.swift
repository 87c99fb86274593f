/// The last replaced registrations of a list, for posts made before that have not reached every client.
///
/// Keeps at least 4,096. A post misses one only if more are replaced during its calls.
struct RecentMoves {
  struct Move: Sendable {
    let old: UInt64
    let new: Registration
    let from: ClientGroup?
  }

  private static var capacity: Int { 4096 }

  private var moves: [Move] = []

  /// The number of all replacements.
  private(set) var count = 0

  mutating func append(_ move: Move) {
    if moves.count == 2 * Self.capacity { moves.removeFirst(Self.capacity) }
    moves.append(move)
    count += 1
  }

  func since(_ index: Int) -> ArraySlice<Move> {
    moves.suffix(count - index)
  }

  /// The registration that replaced the one of this number.
  func successor(of number: UInt64) -> Registration? {
    moves.last { $0.old == number }?.new
  }
}

extension ClientList {
  /// The replacements from `index` on, and the number of all.
  func moves(since index: Int) -> (ArraySlice<RecentMoves.Move>, count: Int) {
    state.withLock { state in (state.moves.since(index), state.moves.count) }
  }

  /// A registration or its latest replacement, and the group; nil if it has ended.
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
