import MulticastPlatform

/// A post as the cause of others: a link from effect to cause.
///
/// It keeps the post's call site and not its message, however long the chain is. Its word counts the recurring posts, in the
/// first cause of a chain.
///
/// Unchecked like its superclass. It adds constants, which are Sendable.
@usableFromInline
final class Cause: AtomicWord, @unchecked Sendable {
  /// The largest legitimate number of recurring posts that one post sets off: those whose call site is among their own
  /// causes.
  static var limit: Int { 1000 }

  let site: CallSite
  private let parent: Cause?

  /// The first cause; nil for that one.
  private let first: Cause?

  @inline(__always)
  init(site: CallSite, parent: Cause?) {
    self.site = site
    self.parent = parent
    first = parent.map { $0.first ?? $0 }
    super.init(word: 0)
  }

  /// The call sites of this post and its causes, the latest first.
  var sites: some Sequence<CallSite> {
    sequence(first: self) { $0.parent }.lazy.map(\.site)
  }

  /// Counts this post if it recurs. Returns how many posts have; 0 if this one does not.
  @inline(__always)
  func countRecurrence() -> Int {
    guard let parent, let first, parent.sites.contains(site) else { return 0 }
    return unsafe first.withWord { word in
      unsafe Int(multicast_add(word, 1, AtomicOrdering.relaxed.rawValue)) + 1
    }
  }
}
