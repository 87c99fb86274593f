import MulticastPlatform

/// A post as the cause of other posts, with a link to its own cause.
///
/// Each link owns its cause, up to the first one. A link keeps the post's call site alive, but not
/// the post, so a long chain retains no messages. The word of the first cause of a chain counts the recurring posts of the
/// chain.
///
/// `@unchecked`, because the superclass is. The properties that it adds are `Sendable`, and constant as long as threads share it.
@usableFromInline
final class Cause: AtomicWord, @unchecked Sendable {
  /// The number of recurring posts that one post may set off. A post *recurs* if its call site is among its causes.
  static var limit: Int { 1000 }

  let site: CallSite

  // A variable, because the `deinit` of the link before this one takes it, when no other thread refers to this link.
  @exclusivity(unchecked) private var parent: Cause?

  /// The first cause of the chain; nil if this is the first one, because an object that owns itself is never deallocated.
  private let first: Cause?

  @inline(__always)
  init(site: CallSite, parent: Cause?) {
    self.site = site
    unsafe self.parent = parent
    first = parent.map { $0.first ?? $0 }
    super.init(word: 0)
  }

  /// Releases the links of which this object is the last owner, one after the other. If each link released the next, a long
  /// chain would overflow the stack.
  deinit {
    var next = unsafe parent.take()
    while isKnownUniquelyReferenced(&next) { next = unsafe next?.parent.take() }
  }

  /// The call sites of this post and its causes, the latest first.
  var sites: some Sequence<CallSite> {
    sequence(first: self) { unsafe $0.parent }.lazy.map(\.site)
  }

  /// Whether a call site is that of this post or of one of its causes. Not inlined, because the loop takes more room than a call.
  @inline(never)
  func includes(_ site: CallSite) -> Bool { sites.contains(site) }

  /// Counts this post if it recurs. Returns the number of posts of the chain that have recurred; 0 if this one does not recur.
  ///
  /// Relaxed, because the number orders no other memory.
  @inline(__always)
  func countRecurrence() -> Int {
    guard let parent = unsafe parent, let first, parent.includes(site) else { return 0 }
    return unsafe first.withWord { word in
      unsafe Int(multicast_add(word, 1, AtomicOrdering.relaxed.rawValue)) + 1
    }
  }
}
