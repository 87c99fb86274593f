/// The latest post of a topic that keeps it, for later observers, and the home of those who have none.
///
/// Unchecked, because the office's lock protects what changes: each method takes the office's state.
@usableFromInline
final class Keeper: @unchecked Sendable {
  /// Where handlers without a home are called, together: one call at a time, in one order.
  let home = Mailbox(.postingThread)

  // Unchecked: the office's lock is held.
  @exclusivity(unchecked) private var latest: Post?

  /// Whether nothing is kept any more, because the center has ended.
  @exclusivity(unchecked) private var hasEnded = false

  /// The number of the newest post that was kept. Relaxed: who sees it takes the office's lock, under which it is set, before
  /// it looks for that post's letter.
  let newest = Atomic<UInt64>(0)

  /// The number of removals. A post that waited for a call to end is not kept after one.
  let removals = Atomic<UInt64>(0)

  func latest(_ office: inout PostOffice.State) -> Post? { unsafe latest }

  /// Replaces the latest post. Returns the previous one, to release after unlocking.
  func replace(with post: Post?, _ office: inout PostOffice.State) -> Post? {
    if unsafe hasEnded { return nil }
    return unsafe exchange(&latest, with: post)
  }

  /// Keeps nothing any more. A kept post would keep its list, which has this. Returns what was kept, to release after
  /// unlocking.
  func end(_ office: inout PostOffice.State) -> Post? {
    defer { unsafe hasEnded = true }
    return replace(with: nil, &office)
  }
}
