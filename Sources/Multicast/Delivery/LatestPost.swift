/// The latest post of a topic that keeps it, for later observers, and the home of the handlers that have no other.
///
/// Unchecked, because the office's lock protects what changes: each method takes the office's state.
@usableFromInline
final class LatestPost: @unchecked Sendable {
  /// Where handlers without another home are called: one call at a time, in one order.
  let mailbox = Mailbox(.postingThread)

  // Unchecked: the office's lock is held.
  @exclusivity(unchecked) private var latest: Post?

  /// Whether nothing is kept any more, because the center has ended.
  @exclusivity(unchecked) private var hasEnded = false

  /// The number of the newest post that was kept. Relaxed: a thread that sees it takes the office's lock, under which it is
  /// set, before it looks for that post's letter.
  let newest = Atomic<UInt64>(0)

  /// The number of `removeLatest()` calls. A post made before a removal must not become the latest when it is delivered later.
  let removals = Atomic<UInt64>(0)

  func post(_ office: inout PostOffice.State) -> Post? { unsafe latest }

  /// Makes a post the latest one, unless the latest message was removed since it was made: that has removed this one, too.
  /// Returns the previous one, to release after unlocking.
  @inline(__always)
  func keep(_ post: Post, _ office: inout PostOffice.State) -> Post? {
    if removals.load(ordering: .relaxed) != post.removals {
      post.doNotKeep()
      return nil
    }
    office.keptPosts += 1
    unsafe post.number = office.keptPosts
    newest.store(office.keptPosts, ordering: .relaxed)
    // A post that somebody waits for ends when its clients have been called. So a copy of it is kept.
    return replace(with: unsafe post.waiter == nil ? post : post.copy(), &office)
  }

  /// Replaces the latest post. Returns the previous one, to release after unlocking.
  func replace(with post: Post?, _ office: inout PostOffice.State) -> Post? {
    if unsafe hasEnded { return nil }
    return unsafe exchange(&latest, with: post)
  }

  /// Keeps nothing any more, because a kept post keeps its list, which owns this. Returns what was kept, to release after
  /// unlocking.
  func end(_ office: inout PostOffice.State) -> Post? {
    defer { unsafe hasEnded = true }
    return replace(with: nil, &office)
  }
}
