import Synchronization

/// What happened, in the order in which it happened. Its entries are read once.
final class Journal: Sendable {
  private let entries = Mutex<[String]>([])

  func write(_ entry: String) {
    entries.withLock { $0.append(entry) }
  }

  /// Returns the entries so far, joined, and forgets them.
  func read() -> String {
    entries.withLock { entries in
      defer { entries = [] }
      return entries.joined(separator: " ")
    }
  }
}

/// An object that does something at its end, to be captured by what ought to end.
final class Sentinel: Sendable {
  private let atEnd: @Sendable () -> Void

  init(_ atEnd: @escaping @Sendable () -> Void) {
    self.atEnd = atEnd
  }

  convenience init(_ journal: Journal) {
    self.init { journal.write("end") }
  }

  deinit { atEnd() }
}
