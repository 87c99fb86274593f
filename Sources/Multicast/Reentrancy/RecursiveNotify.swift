/// The report of a delivery that was refused: a notify that was a loop, or a post that recurred too
/// often.
///
/// A center passes it to its `onRecursion` handler. It is an `Error`, so that a program which
/// prefers to fail can throw it.
public struct RecursiveNotify: Error, Hashable, Sendable {
  /// The name of the listener protocol or the topic that was notified or posted to.
  public let key: String

  /// The call sites that led here, outermost first, and last the refused one.
  ///
  /// Those of other protocols, topics and centers are among them: a loop may lead through these.
  public let path: [CallSite]

  /// Whether a post was refused.
  ///
  /// Then each call site of the path posted while the post before it was being handled: later, and
  /// perhaps in another home. Otherwise the path is a call stack.
  public let isPost: Bool

  /// Creates a report, to test a handler with. Centers make their own.
  public init(key: String, path: [CallSite], isPost: Bool = false) {
    self.key = key
    self.path = path
    self.isPost = isPost
  }
}

extension RecursiveNotify: CustomStringConvertible {
  /// The report for people: what was refused, the path with one call site a line, and what to do.
  ///
  /// Of a long path, only both ends are shown.
  public var description: String {
    var lines = [headline + " The path to it:"]
    for (index, site) in path.enumerated() {
      if path.count > 12, index == 5 { lines.append("  ... \(path.count - 10) more") }
      if path.count > 12, (5..<path.count - 5).contains(index) { continue }
      let step = index == 0 ? "" : isPost ? "then posted at " : ""
      lines.append("  \(step)\(site)" + (index == path.count - 1 ? "  <- refused" : ""))
    }
    return (lines + [advice]).joined(separator: "\n")
  }

  /// The report in one line.
  var summary: String {
    let shown = path.count > 12 ? path.prefix(3) + path.suffix(3) : path[...]
    let sites = shown.map(\.description).joined(separator: " -> ")
    let more = path.count > shown.count ? " (\(path.count) in all)" : ""
    return "Multicast: \(headline) Path: \(sites)\(more). \(advice)"
  }

  private var headline: String {
    isPost
      ? "A post to \(key) was refused and reached nobody, because one post has set off more than "
        + "\(Recurrences.limit) recurring posts."
      : "A recursive notification of \(key) was refused and reached nobody."
  }

  private var advice: String {
    isPost
      ? "To fix this, post only if something has changed."
      : "To fix this, notify only if something has changed, or post instead. A wrapper must pass its caller's "
        + "call site on. If the recursion is meant and ends, use reentrancy: .allow(depth:)."
  }
}
