/// When an own value of a topic that keeps its latest is posted again, so that the last one of the log counts everywhere.
///
/// An own value is here before it is in the log. A value that comes in meanwhile takes its place, even if it is before it
/// in the log. When the own one returns from the log, it is posted again. Skipping the value that comes in would avoid the
/// repetition, and was tried: then the handlers of busy processes missed most of what the others said. A value: it knows no
/// engine, no lock and no clock.
struct LatestRule {
  /// How many own messages were posted, and how many of them have come back from the log, or never will.
  private var posted: UInt64 = 0
  private var returned: UInt64 = 0
  /// The last own record: up to which message, what hash it has, and whether the engine has stored it.
  private var sent: (count: UInt64, hash: Int) = (0, 0)
  private var isStored = false
  /// Whether a message that came in has taken the place of an own one that has not come back.
  private var isOvertaken = false

  /// An own message was posted. In the order of the center, which may be another one than that of the log.
  mutating func noteOwn() {
    posted += 1
    isOvertaken = false
  }

  /// A message that came in was posted, in the order of the center.
  mutating func noteCameIn() { if returned < posted { isOvertaken = true } }

  /// A record of own messages up to this number is sent.
  mutating func noteSent(_ count: UInt64, hash: Int) { (sent, isStored) = ((count, hash), false) }

  /// The engine has stored what was sent.
  mutating func noteStored() { isStored = true }

  /// What was sent does not come back any more. Returns whether these are the last own messages, and another one has
  /// taken their place here.
  mutating func noteReturn() -> Bool {
    (returned, isStored) = (sent.count, false)
    guard isOvertaken, returned >= posted else { return false }
    isOvertaken = false
    return true
  }

  /// A record has come in the own name, which another process may have forged.
  mutating func noteReturn(_ count: UInt64, hash: Int) -> Bool {
    (count, hash) == sent && noteReturn()
  }

  /// The log has begun anew: what was stored in the old one may never come back. Returns its hash, if there is any.
  mutating func beginAnew() -> Int? {
    guard isStored else { return nil }
    (returned, isStored) = (sent.count, false)
    return sent.hash
  }
}
