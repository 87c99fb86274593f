/// The report of a notify that was refused because it was part of a loop.
///
/// A center passes it to its `onRecursion` handler. It is an `Error`, so that a program which
/// prefers to fail can hand it on.
public struct RecursiveNotify: Error, Hashable, Sendable {
  /// The name of the listener protocol whose notify was refused, or of the topic whose post was.
  public let listener: String

  /// The notifies that were active, outermost first, and last the refused one.
  ///
  /// Notifies of other protocols and other centers are among them: a loop may lead through these.
  public let path: [CallSite]

  /// A report; for tests of a handler, since centers make their own.
  public init(listener: String, path: [CallSite]) {
    self.listener = listener
    self.path = path
  }
}

extension RecursiveNotify: CustomStringConvertible {
  /// The report for people: what was refused, the path with one call site a line, and what to do.
  public var description: String {
    var lines = ["Recursive notify of \(listener) refused; it reached nobody. The path to it:"]
    for (depth, site) in path.enumerated() {
      lines.append("  \(site)" + (depth == path.count - 1 ? "  <- refused" : ""))
    }
    lines.append(
      "If it is meant and ends, make the center or delegate with reentrancy: .allow(depth:).")
    return lines.joined(separator: "\n")
  }

  /// The report in one line.
  var summary: String {
    let path = path.map(\.description).joined(separator: " -> ")
    return "Multicast: recursive notify of \(listener) refused: \(path) "
      + "(if it is meant and ends, make the center or delegate with reentrancy: .allow(depth:))"
  }
}
