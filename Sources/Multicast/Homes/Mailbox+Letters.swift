extension Mailbox {
  /// The largest capacity that an empty mailbox keeps.
  private static var largestIdleCapacity: Int { 256 }

  /// Letters enqueued since the last takeover.
  struct Incoming {
    var letters: [Letter] = []

    /// Whether a drain is active or scheduled.
    var isScheduled = false

    mutating func remove(where matches: (Letter) -> Bool) -> [Letter] {
      let removed = letters.filter(matches)
      if !removed.isEmpty { letters.removeAll(where: matches) }
      return removed
    }

    mutating func take(leaving empty: [Letter]) -> [Letter] {
      defer { letters = empty }
      return letters
    }

    mutating func schedule() -> Bool {
      defer { isScheduled = true }
      return !isScheduled
    }
  }

  /// Letters taken over by the drain.
  struct Outgoing {
    private(set) var letters: [Letter] = []
    private var next = 0

    /// The letter being handled.
    var current: Letter?

    /// Whether a thread is calling clients in this home.
    var isCalling = false

    var waiting: ArraySlice<Letter> { letters[next...] }

    /// Moves the incoming letters here.
    mutating func takeOver(from incoming: borrowing Locked<Incoming>) {
      guard next == letters.count else {
        letters += incoming.withLock { $0.take(leaving: []) }
        return
      }
      // The memory is reused, unless a backlog made it large.
      var empty: [Letter] = []
      if letters.capacity <= largestIdleCapacity {
        swap(&empty, &letters)
        empty.removeAll(keepingCapacity: true)
      }
      let spare = empty
      letters = incoming.withLock { $0.take(leaving: spare) }
      next = 0
    }

    mutating func popNext(upTo last: UInt64 = .max) -> Letter? {
      current = nil
      if next < letters.count, letters[next].number <= last {
        current = letters[next]
        next += 1
      } else if next == letters.count, letters.capacity > largestIdleCapacity {
        (letters, next) = ([], 0)
      }
      return current
    }

    /// Inserts a letter before those with greater numbers. Returns false if there are none.
    mutating func insert(_ letter: Letter) -> Bool {
      guard let index = waiting.firstIndex(where: { $0.number > letter.number }) else {
        return false
      }
      letters.insert(letter, at: index)
      return true
    }

    func unhandled(where matches: (Letter) -> Bool) -> [QueuedPost] {
      ([current].compactMap(\.self) + waiting).filter(matches).map { QueuedPost($0) }
    }

    mutating func remove(where matches: (Letter) -> Bool) -> [Letter] {
      let removed = waiting.filter(matches)
      if !removed.isEmpty { (letters, next) = (waiting.filter { !matches($0) }, 0) }
      return removed
    }
  }
}
