/// A report of a refused delivery: a `notify` that was a loop, or a `post` that recurred too often.
///
/// A center passes it to its `onRecursion` closure. It is an `Error`, so a program can throw it. <doc:Loops>
/// shows how to read it.
public struct RecursiveNotify: Error, Hashable, Sendable {
  /// The name of the listener protocol or the topic.
  public let key: String

  /// The call sites that led to the refused one, the outermost first and the refused one last.
  ///
  /// They may belong to other protocols, topics and centers.
  public let path: [CallSite]

  /// Whether the refused call is one of `post`.
  ///
  /// Then the path is a chain of causes: each call site posted while clients were called for the call site
  /// before it, perhaps in another home. Otherwise the path is a call stack.
  public let isPost: Bool

  /// Creates a report, to test an `onRecursion` closure.
  ///
  /// - Parameters:
  ///   - key: The name of the listener protocol or the topic.
  ///   - path: The call sites, the refused one last.
  ///   - isPost: Whether the refused call is one of `post`.
  public init(key: String, path: [CallSite], isPost: Bool = false) {
    self.key = key
    self.path = path
    self.isPost = isPost
  }
}

extension RecursiveNotify: CustomStringConvertible {
  /// The report as text: what was refused, the path with one call site in each line, and how to fix it.
  ///
  /// It shows only both ends of a long path.
  public var description: String {
    var lines = [
      isPost
        ? "A post to \(key) was refused and called no listener, because one post has set off more than \(Cause.limit) "
          + "recurring posts. The path to it:"
        : "A recursive notification of \(key) was refused and called no client. The path to it:"
    ]
    for (index, site) in path.enumerated() {
      if path.count > 12, index == 5 { lines.append("  ... \(path.count - 10) more") }
      if path.count > 12, (5..<path.count - 5).contains(index) { continue }
      let step = index == 0 ? "" : isPost ? "then posted at " : ""
      lines.append("  \(step)\(site)" + (index == path.count - 1 ? "  <- refused" : ""))
    }
    lines.append(
      isPost
        ? "To fix this, post only if something has changed. If the chain would end by itself, post its pieces "
          + "from one loop."
        : "To fix this, notify only if something has changed, or post instead. A wrapper must pass its caller's call "
          + "site on. If the recursion is meant and ends, use reentrancy: .allow(depth:).")
    return lines.joined(separator: "\n")
  }
}
