import OrderedCollections

/// The records that have come in for a topic. Finds repeated and missing ones by the numbers of each sender.
///
/// A value without an engine, a lock or a clock.
struct Inflow {
  enum Finding: Equatable {
    /// The record is new. This number of messages before it are missing.
    case new(missing: UInt64)
    /// The record has come before.
    case repeated
    /// The record is new, but cannot follow the earlier ones in its sender's name, so another process has written it.
    case disputed
  }

  private struct Known {
    let sender: Frame.Sender
    var next: UInt64
    /// The number up to which no record was disputed or has made a jump.
    var sure: UInt64
    /// The latest records, which distinguish a repeated record from one that another process has sent.
    var recent: [(first: UInt64, hash: Int)] = []
    /// A jump of the numbers that no later record has confirmed: how many messages it skips, and before which number it
    /// began. A forged record makes such a jump, too.
    var jump: (missing: UInt64, from: UInt64, isOld: Bool)?
  }

  /// A sender has only one record on its way, so a repeated record comes soon.
  private static let recentCount = 16
  /// A larger jump is not believed.
  private static let plausible: UInt64 = 1 << 26

  private let senderLimit: Int
  /// The one that was silent for the longest time first.
  private var senders: OrderedDictionary<UInt64, Known> = [:]
  /// While the log is read again, it repeats the messages of each sender before this number.
  private var readBefore: [UInt64: UInt64] = [:]
  /// Whether all records are signed, so that a low number is never a forged one.
  private let isSigned: Bool

  init(isSigned: Bool = false, senderLimit: Int = 1_000) {
    (self.isSigned, self.senderLimit) = (isSigned, senderLimit)
  }

  /// Whether a record of the sender has come before.
  func knows(_ sender: Frame.Sender) -> Bool { senders[sender.id] != nil }

  /// Takes a record of a sender. A disputed record is delivered, too, because it may be the honest one.
  mutating func take(_ sender: Frame.Sender, first: UInt64, count: Int, hash: Int) -> Finding {
    if senders[sender.id] == nil, senders.count >= senderLimit {
      senders.removeFirst(senderLimit / 2)
    }
    // Messages before the first record are not missing. Even if the log was empty when the reading began, they may have expired.
    var known =
      senders.removeValue(forKey: sender.id) ?? Known(sender: sender, next: first, sure: first)
    defer { senders[sender.id] = known }
    // Compare the contents, too, because a forged record may have any number.
    if known.recent.contains(where: { $0 == (first, hash) }) { return .repeated }
    let end = first + UInt64(count)
    if end <= (isSigned ? known.next : readBefore[sender.id] ?? 0) { return .repeated }
    var finding = Finding.new(missing: 0)
    if first == known.next {
      // It continues after a jump, so the jump is honest.
      finding = .new(missing: known.jump.take()?.missing ?? 0)
    } else if first > known.next, first - known.next <= Inflow.plausible {
      let (missing, from, _) = known.jump ?? (0, known.next, false)
      known.jump = (missing + first - known.next, from, false)
    } else {
      // It continues before a jump, so the jump was forged.
      if first == known.jump?.from { known.jump = nil }
      finding = .disputed
    }
    known.next = end
    if finding != .disputed, known.jump == nil { known.sure = end }
    if known.recent.count == Inflow.recentCount { known.recent.removeFirst() }
    known.recent.append((first, hash))
    return finding
  }

  /// Believes the jumps that no record has contradicted since the previous call. Returns the senders, each with the
  /// number of missing messages.
  mutating func settle() -> [(sender: Frame.Sender, missing: UInt64)] {
    var missing: [(Frame.Sender, UInt64)] = []
    for (id, known) in senders {
      guard let jump = known.jump else { continue }
      if jump.isOld { missing.append((known.sender, jump.missing)) }
      senders[id]?.jump = jump.isOld ? nil : (jump.missing, jump.from, true)
    }
    return missing
  }

  /// Call this before the log is read again: everything that was read before is skipped, however old it is.
  ///
  /// What came after a record that may be forged is not, because a forged number would hide honest messages. Some come twice then.
  mutating func rewind() {
    readBefore = senders.reduce(into: [:]) { $0[$1.key] = min($1.value.sure, $1.value.next) }
  }

  /// Call this when the log has been read again up to its end at that time. From then on, a low number is not a
  /// repetition. Instead, a high number before it was forged, and would hide the next messages of an honest sender.
  mutating func endRewind() { readBefore = [:] }
}
