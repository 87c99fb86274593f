/// Which of the values of a topic that keeps its latest counts here: the last one of the log, in the end.
///
/// An own value is here before it is in the log. What comes in meanwhile is before it there, and is skipped. What took
/// the place of an own one that is behind it in the log gives it back when the own one returns from the log. A value: it
/// knows no engine, no lock and no clock.
struct LatestRule {
  /// How many own messages were posted, how many of them have come back from the log, and how many the engine has
  /// acknowledged, up to which place.
  private var posted: UInt64 = 0
  private var returned: UInt64 = 0
  private var stored: (count: UInt64, place: Position?) = (0, nil)
  /// Whether a message that came in has taken the place of an own one that is behind it in the log.
  private var isOvertaken = false

  /// An own message was posted. In the order of the center, which may be another one than that of the log.
  mutating func noteOwn() {
    posted += 1
    isOvertaken = false
  }

  /// A message that came in was posted, in the order of the center.
  mutating func noteCameIn() { if returned < posted { isOvertaken = true } }

  /// The engine has stored own messages up to this number.
  mutating func noteStored(_ count: UInt64, at place: Position?) { stored = (count, place) }

  /// Own messages up to this number have come back from the log, or never will. Returns whether they are the last ones,
  /// and another one has taken their place here.
  mutating func noteReturn(_ count: UInt64) -> Bool {
    returned = max(returned, count)
    guard isOvertaken, returned >= posted else { return false }
    isOvertaken = false
    return true
  }

  /// The log has begun anew: what was stored in the old one never comes back.
  mutating func beginAnew() {
    _ = noteReturn(stored.count)
    stored.place = nil
  }

  /// Whether own messages are behind a place in the log, and so are later.
  func isAhead(of place: Position) -> Bool {
    guard returned < posted else { return false }
    guard stored.count >= posted, let own = stored.place else { return true }
    return own > place
  }
}
