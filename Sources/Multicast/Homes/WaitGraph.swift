/// Which lanes wait for which others to have handled a letter, in the whole process.
///
/// Lanes that wait for each other would wait for ever. So a wait that would close a circle is not begun.
/// Only posts that are made inside of awaited calls, and wait, come here. Lanes that are in the graph are
/// kept by the waits, so that their identities are nobody else's.
enum WaitGraph {
  /// For each lane that waits, the lanes that it waits for, with the number of letters.
  private static let waits = Locked<[ObjectIdentifier: [ObjectIdentifier: Int]]>([:])

  /// Notes that a lane waits for another one. Returns false, and notes nothing, if that one waits already,
  /// directly or through others, for the one that wants to wait, or is the same.
  static func addWait(of waiter: Mailbox, for lane: Mailbox) -> Bool {
    let (waiter, lane) = (ObjectIdentifier(waiter), ObjectIdentifier(lane))
    return waits.withLock { waits in
      var seen: Set = [lane]
      var open = [lane]
      while let next = open.popLast() {
        if next == waiter { return false }
        for other in (waits[next] ?? [:]).keys where seen.insert(other).inserted {
          open.append(other)
        }
      }
      waits[waiter, default: [:]][lane, default: 0] += 1
      return true
    }
  }

  static func removeWait(of waiter: Mailbox, for lane: Mailbox) {
    let (waiter, lane) = (ObjectIdentifier(waiter), ObjectIdentifier(lane))
    waits.withLock { waits in
      guard let count = waits[waiter]?[lane] else { return }
      waits[waiter]?[lane] = count == 1 ? nil : count - 1
      if waits[waiter]?.isEmpty == true { waits[waiter] = nil }
    }
  }
}
