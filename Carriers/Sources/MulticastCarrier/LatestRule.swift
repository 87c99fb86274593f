/// Decides when an own value of a topic that keeps its latest is posted again, so that the log's last value counts in
/// all processes.
///
/// A process receives its own value before the log does. Another value that comes in meanwhile replaces it, even if it
/// precedes it in the log. When the own value returns from the log, it is posted again. The alternative, skipping the
/// value that comes in, was tried: handlers of busy processes then missed most values of the others. A value without an
/// engine, a lock or a clock.
struct LatestRule {
  /// The number of own messages that were posted, and of those that have returned from the log or never will.
  private(set) var posted: UInt64 = 0
  private var returned: UInt64 = 0
  /// The last own record: the number of its last message, its hash, and whether the engine has stored it.
  private var sent: (count: UInt64, hash: Int) = (0, 0)
  private var isStored = false
  /// Whether a message that came in has replaced an own one that has not returned.
  private var isOvertaken = false

  /// Call this for each own message that is posted, in the order of the center. The log may have another order.
  mutating func noteOwn() {
    posted += 1
    isOvertaken = false
  }

  /// Call this for each posted message that came in, in the order of the center.
  mutating func noteCameIn() { if returned < posted { isOvertaken = true } }

  /// Call this when a record is sent, with the number of its last own message.
  mutating func noteSent(_ count: UInt64, hash: Int) { (sent, isStored) = ((count, hash), false) }

  /// Call this when the engine has stored the record, which may have returned before.
  mutating func noteStored() { isStored = returned < sent.count }

  /// Call this when the record that was sent has returned or never will. Returns whether it contains the last own
  /// messages and another message has replaced them here.
  mutating func noteReturn() -> Bool {
    (returned, isStored) = (sent.count, false)
    guard isOvertaken, returned >= posted else { return false }
    isOvertaken = false
    return true
  }

  /// Call this for a record in the own name, which another process may have forged.
  mutating func noteReturn(_ count: UInt64, hash: Int) -> Bool {
    (count, hash) == sent && noteReturn()
  }

  /// Call this when the log has begun again, so that a stored record may never return. Returns its hash, if there is
  /// one.
  mutating func beginAnew() -> Int? {
    guard isStored else { return nil }
    (returned, isStored) = (sent.count, false)
    return sent.hash
  }
}
