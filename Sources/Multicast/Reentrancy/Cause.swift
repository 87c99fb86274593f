/// A post that has set off others: a link from effect to cause.
///
/// It keeps the post's call site and not its message, however long the chain is.
final class Cause: Sendable {
  let site: CallSite
  let recurrences: Recurrences
  private let parent: Cause?

  init(site: CallSite, parent: Cause?, recurrences: Recurrences) {
    self.site = site
    self.parent = parent
    self.recurrences = recurrences
  }

  /// The call sites of this post and its causes, the latest first.
  var sites: some Sequence<CallSite> {
    sequence(first: self) { $0.parent }.lazy.map(\.site)
  }
}

/// Counts the recurring posts that one post sets off: those whose call site is among their own causes.
final class Recurrences: Sendable {
  /// The largest legitimate number.
  static var limit: Int { 1000 }

  enum Verdict {
    case legitimate
    case firstTooMany
    case tooMany
  }

  private let count = Atomic<Int>(0)

  func countOne() -> Verdict {
    let count = count.wrappingAdd(1, ordering: .relaxed).newValue
    return count <= Self.limit ? .legitimate : count == Self.limit + 1 ? .firstTooMany : .tooMany
  }
}
