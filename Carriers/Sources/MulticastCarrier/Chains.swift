import DequeModule

/// Counts what one post has set off, so that messages that set off each other across processes end.
struct Chains: Sendable {
  private static let known = 1_024

  private let limit: Int
  private var counts: [UInt64: Int] = [:]
  private var roots: Deque<UInt64> = []

  /// - Parameter limit: How many messages one post may set off in a process.
  init(limit: Int) { self.limit = limit }

  /// Whether one more may follow. Those count that recur, or whose chain has gone to and fro a few times.
  mutating func allows(_ origin: Origin, recurs: Bool) -> Bool {
    guard recurs || origin.hops > 8 else { return true }
    if counts[origin.root] == nil {
      roots.append(origin.root)
      if roots.count > Chains.known { counts[roots.removeFirst()] = nil }
    }
    counts[origin.root, default: 0] += 1
    return counts[origin.root, default: 0] <= limit
  }
}
