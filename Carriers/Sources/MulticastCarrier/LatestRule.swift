/// Which of the values of a topic that keeps its latest counts here: the last one of the log, in the end.
///
/// An own value is here before it is in the log. What comes in meanwhile is before it there, and is skipped. What took
/// the place of an own one that is behind it in the log gives it back when the own one returns from the log. A value: it
/// knows no engine, no lock and no clock.
struct LatestRule {
  /// How many own messages were posted, and how many of them have come back from the log, or never will.
  private var posted: UInt64 = 0
  private var returned: UInt64 = 0
  /// The last own record: up to which message, what hash it has, and where it is stored.
  private var sent: (count: UInt64, hash: Int) = (0, 0)
  private var place: Position?
  /// Whether a message that came in has taken the place of an own one that is behind it in the log.
  private var isOvertaken = false

  /// An own message was posted. In the order of the center, which may be another one than that of the log.
  mutating func noteOwn() {
    posted += 1
    isOvertaken = false
  }

  /// A message that came in was posted, in the order of the center.
  mutating func noteCameIn() { if returned < posted { isOvertaken = true } }

  /// A record of own messages up to this number is sent.
  mutating func noteSent(_ count: UInt64, hash: Int) { (sent, place) = ((count, hash), nil) }

  /// The engine has stored what was sent.
  mutating func noteStored(at place: Position) { self.place = place }

  /// What was sent does not come back any more. Returns whether these are the last own messages, and another one has
  /// taken their place here.
  mutating func noteReturn() -> Bool {
    returned = sent.count
    guard isOvertaken, returned >= posted else { return false }
    isOvertaken = false
    return true
  }

  /// A record has come in the own name, which somebody else may have forged.
  mutating func noteReturn(_ count: UInt64, hash: Int) -> Bool {
    (count, hash) == sent && noteReturn()
  }

  /// The log has begun anew: what was stored in the old one never comes back.
  mutating func beginAnew() {
    if place != nil { _ = noteReturn() }
    place = nil
  }

  /// Whether own messages are behind a place in the log, and so are later.
  func isAhead(of other: Position) -> Bool {
    guard returned < posted else { return false }
    guard sent.count >= posted, let place else { return true }
    return place.epoch == other.epoch && place > other
  }
}
