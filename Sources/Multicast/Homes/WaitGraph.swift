/// Which awaited calls wait for which lanes to have handled a letter, in the whole process.
///
/// Calls that wait for each other would wait for ever. So a wait that would close a circle is not begun. Only
/// posts that are made inside of awaited calls, and wait, come here.
///
/// A call that has returned holds its lane up no more, even if a task that it has started goes on waiting: such
/// a wait does not count. Lanes that are in the graph are kept by the waits, so that their identities are
/// nobody else's.
enum WaitGraph {
  private struct Wait: Hashable {
    let call: AwaitedCall
    let lane: ObjectIdentifier

    static func == (one: Self, other: Self) -> Bool {
      one.call === other.call && one.lane == other.lane
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(ObjectIdentifier(call))
      hasher.combine(lane)
    }
  }

  /// For each lane, the waits of its calls, with the number of letters.
  private static let waits = Locked<[ObjectIdentifier: [Wait: Int]]>([:])

  /// Notes that a call waits for a lane. Returns false, and notes nothing, if a call in that lane waits already,
  /// directly or through others, for the lane of the one that wants to wait, or if it is the same lane.
  static func addWait(of call: AwaitedCall, for lane: Mailbox) -> Bool {
    guard call.isUnderWay else { return true }
    let (waiter, lane) = (ObjectIdentifier(call.lane), ObjectIdentifier(lane))
    return waits.withLock { waits in
      var seen: Set = [lane]
      var open = [lane]
      while let next = open.popLast() {
        if next == waiter { return false }
        for wait in (waits[next] ?? [:]).keys
        where wait.call.isUnderWay && seen.insert(wait.lane).inserted {
          open.append(wait.lane)
        }
      }
      waits[waiter, default: [:]][Wait(call: call, lane: lane), default: 0] += 1
      return true
    }
  }

  static func removeWait(of call: AwaitedCall, for lane: Mailbox) {
    let waiter = ObjectIdentifier(call.lane)
    let wait = Wait(call: call, lane: ObjectIdentifier(lane))
    waits.withLock { waits in
      guard let count = waits[waiter]?[wait] else { return }
      waits[waiter]?[wait] = count == 1 ? nil : count - 1
      if waits[waiter]?.isEmpty == true { waits[waiter] = nil }
    }
  }
}
