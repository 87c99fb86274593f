/// What has come in of a topic: finds what is repeated and what is missing, by the numbers of each sender.
///
/// A value: it knows no engine, no lock and no clock.
struct Inflow {
  enum Finding: Equatable {
    /// It is new. So many messages before it are missing.
    case new(missing: UInt64)
    /// It has come before.
    case repeated
    /// It is new, but cannot follow what came before in its sender's name: somebody else speaks in it.
    case disputed
  }

  private struct Known {
    var next: UInt64
    /// What has come last, to tell what is repeated from what somebody else has said.
    var recent: [(first: UInt64, hash: Int)] = []
    var heard: UInt64 = 0
  }

  /// A sender has one record under way. So what is repeated comes soon.
  private static let recentCount = 16
  /// A jump of more messages is not believed.
  private static let plausible: UInt64 = 1 << 26

  private let senderLimit: Int
  private var senders: [UInt64: Known] = [:]
  private var count: UInt64 = 0
  /// Whether the log was empty when this began: then all that senders have said comes here.
  private var isWhole: Bool

  init(isWhole: Bool = false, senderLimit: Int = 1_000) {
    (self.isWhole, self.senderLimit) = (isWhole, senderLimit)
  }

  /// Takes a record of a sender. What is disputed is delivered, too: nobody who is forged loses anything by it.
  mutating func take(_ sender: UInt64, first: UInt64, count: Int, hash: Int) -> Finding {
    self.count += 1
    if senders[sender] == nil, senders.count >= senderLimit { forget() }
    var known = senders.removeValue(forKey: sender) ?? Known(next: isWhole ? 1 : first)
    defer { senders[sender] = known }
    known.heard = self.count
    // Whatever number is next: somebody else may have changed it.
    if known.recent.contains(where: { $0 == (first, hash) }) { return .repeated }
    let finding: Finding =
      first < known.next || first - known.next > Inflow.plausible
      ? .disputed : .new(missing: first - known.next)
    known.next = first + UInt64(count)
    if known.recent.count == Inflow.recentCount { known.recent.removeFirst() }
    known.recent.append((first, hash))
    return finding
  }

  /// Forgets the half of those who were not heard of for the longest time.
  private mutating func forget() {
    let times = senders.values.map(\.heard).sorted()
    senders = senders.filter { $0.value.heard > times[times.count / 2] }
    isWhole = false
  }
}
