import Multicast

/// What happened, in the order in which it happened. Its entries are read once.
package final class Journal: Sendable {
  private let entries = Locked<[String]>([])

  package init() {}

  package func write(_ entry: String) {
    entries.withLock { $0.append(entry) }
  }

  /// Returns the entries so far, joined, and forgets them.
  package func read() -> String {
    entries.withLock { entries in
      defer { entries = [] }
      return entries.joined(separator: " ")
    }
  }
}
