/// Which observers' handlers wait for which others to have handled a message, in the whole process.
///
/// Handlers that wait for each other would wait for ever. So a wait that would close a circle is not
/// begun. Only posts that are made inside of handlers, and wait, come here.
enum WaitGraph {
  private static let waits = Locked<[ObjectIdentifier: [ObjectIdentifier]]>([:])

  /// Notes that a handler waits for an observer. Returns false, and notes nothing, if the observer's
  /// handler waits already, directly or through others, for the one that wants to wait.
  static func addWait(of waiter: ObjectIdentifier, for observer: ObjectIdentifier) -> Bool {
    waits.withLock { waits in
      var seen: Set = [observer]
      var open = [observer]
      while let next = open.popLast() {
        if next == waiter { return false }
        for other in waits[next] ?? [] where seen.insert(other).inserted { open.append(other) }
      }
      waits[waiter, default: []].append(observer)
      return true
    }
  }

  static func removeWaits(of waiter: ObjectIdentifier, for observers: [ObjectIdentifier]) {
    waits.withLock { waits in
      for observer in observers {
        guard let index = waits[waiter]?.firstIndex(of: observer) else { continue }
        waits[waiter]?.remove(at: index)
      }
      if waits[waiter]?.isEmpty == true { waits[waiter] = nil }
    }
  }
}
