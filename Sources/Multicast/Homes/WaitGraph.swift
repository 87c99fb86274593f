/// The awaited calls that wait for letters in lanes, in the whole process.
///
/// A wait that would close a cycle is not begun, because its calls would wait forever. Only posts that are
/// made inside awaited calls, and wait, are recorded here.
///
/// A call that has returned no longer blocks its lane, even if a task that it started still waits. Its waits
/// do not count. The waits keep their lanes alive, so a lane's identity stays unique.
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

  /// The waits of each lane's calls, with their numbers of letters.
  private static let waits = Locked<[ObjectIdentifier: [Wait: Int]]>([:])

  /// Records that a call waits for a lane. Returns false if that would close a cycle.
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
