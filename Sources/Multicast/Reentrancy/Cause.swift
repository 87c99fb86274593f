/// A post that has set off others: a link from effect to cause.
///
/// It keeps the post's call site and not its message, however long the chain is.
final class Cause: Sendable {
  /// The largest legitimate number of recurring posts that one post sets off: those whose call site is among their own
  /// causes.
  static var limit: Int { 1000 }

  let site: CallSite
  private let parent: Cause?

  /// The first cause, which counts the recurring posts; nil for that one.
  private let first: Cause?
  private let recurrences = Atomic<Int>(0)

  init(site: CallSite, parent: Cause?) {
    self.site = site
    self.parent = parent
    first = parent.map { $0.first ?? $0 }
  }

  /// The call sites of this post and its causes, the latest first.
  var sites: some Sequence<CallSite> {
    sequence(first: self) { $0.parent }.lazy.map(\.site)
  }

  /// Counts a recurring post. Returns how many there are.
  func countRecurrence() -> Int {
    (first ?? self).recurrences.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
