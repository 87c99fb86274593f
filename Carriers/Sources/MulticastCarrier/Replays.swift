import NIOCore

/// How far this process has read what the engine has stored of each topic, and what it reads next. One reading is
/// under way at a time.
///
/// A process begins where the store ends when it comes. While it is connected, its place moves on behind the store's
/// end, by one `pause` at least: so nothing is read again that was heard long ago, and what was lost on its way of
/// late is.
package struct Replays: Sendable {
  private struct Topic {
    /// What was stored before this place was heard, or is known to be missing.
    var position: StoredPosition?
    /// Where the store ended a while ago.
    var mark: StoredPosition?
    /// Whether it was read from `start`, and the end has not been reached.
    var isFromStart = false
    /// When it is to be marked again; or when a reading that has failed is tried again.
    var due = NIODeadline.distantPast
    var failures = 0
    /// The numbers of the readings that somebody waits for.
    var asked = 0
    var begun = 0
    var ended = 0
    var isPending: Bool { asked > ended }
  }

  package struct Reading: Sendable, Equatable {
    package let type: String
    /// With nil, only the end of the store is looked for.
    package let position: StoredPosition?
    let isFromStart: Bool
    fileprivate let isMark: Bool
    fileprivate let number: Int
  }

  /// After so many failures, nobody waits for what the engine has. It is read when that can be done.
  private static let patience = 3
  /// A place before everything. Only what processes say that are known already is to be taken from there.
  static let start = StoredPosition(epoch: "", offset: "0-0")
  let pause: TimeAmount
  private var topics: [String: Topic] = [:]
  private var underWay: Reading?
  private var readings = 0

  init(pause: TimeAmount) { self.pause = pause }

  /// Wants to know what was stored until now. Returns the number of a reading, of which the end can be asked for.
  @discardableResult
  mutating func ask(_ type: String) -> Int {
    var topic = topics[type] ?? Topic()
    topic.asked += 1
    // After a failure it waits for its turn.
    if topic.failures == 0 { topic.due = .distantPast }
    topics[type] = topic
    return topic.asked
  }

  func hasEnded(_ number: Int, of type: String) -> Bool {
    guard let topic = topics[type] else { return true }
    return topic.ended >= number || topic.failures >= Replays.patience
  }

  func knows(_ type: String) -> Bool {
    topics[type]?.position.map { $0 != Replays.start } ?? false
  }

  mutating func forget(_ type: String) { topics[type] = nil }

  /// What is marked from now on counts. What was marked before may be behind something that was never heard.
  mutating func connect() {
    for type in topics.keys {
      topics[type]?.mark = nil
      // It was connected before, and does not know where the store ended then.
      if topics[type]?.position == nil {
        topics[type]?.position = Replays.start
        topics[type]?.isFromStart = true
      }
      topics[type]?.failures = 0
    }
    if let reading = underWay, reading.isMark { underWay = nil }
  }

  /// Begins the next reading, if one is due.
  ///
  /// - Parameter hasRoom: Whether what is read can be taken.
  mutating func next(at now: NIODeadline, where hasRoom: (String) -> Bool) -> Reading? {
    guard underWay == nil,
      let (type, topic) = topics.filter({ $0.value.due <= now && hasRoom($0.key) }).min(by: {
        // At first what somebody waits for.
        ($0.value.isPending ? 0 : 1, $0.key) < ($1.value.isPending ? 0 : 1, $1.key)
      })
    else { return nil }
    readings += 1
    let reading = Reading(
      type: type, position: topic.isPending ? topic.position : nil,
      isFromStart: topic.isFromStart, isMark: !topic.isPending, number: readings)
    // A reading that goes on, page by page, is still the one that has begun.
    if topic.isPending, topic.begun == topic.ended { topics[type]?.begun = topic.asked }
    underWay = reading
    return reading
  }

  /// Takes what was read.
  ///
  /// - Parameters:
  ///   - misses: Whether something of the topic is missing. Then the place does not move on: it may have to be read
  ///     again.
  ///   - isFull: Whether something could not be held, because earlier messages are missing. It is read again. Nobody
  ///     waits for it, so that those can be given up.
  /// - Returns: Whether the store was begun anew.
  mutating func take(
    _ page: StoredPayloads, _ reading: Reading, misses: Bool, isFull: Bool = false,
    at now: NIODeadline
  ) -> Bool {
    // The connection may have been lost meanwhile, or the topic.
    guard underWay == reading else { return false }
    underWay = nil
    guard var topic = topics[reading.type] else { return false }
    defer { topics[reading.type] = topic }
    topic.failures = 0
    let beganAnew =
      topic.position.map { $0 != Replays.start && $0.epoch != page.end.epoch } ?? false
    guard reading.isMark else {
      guard !isFull else {
        topic.ended = topic.begun
        topic.asked = max(topic.asked, topic.ended + 1)
        topic.due = now + .seconds(1)
        return false
      }
      topic.position = page.end
      topic.due = .distantPast
      guard !page.hasMore else { return beganAnew }
      topic.ended = topic.begun
      topic.isFromStart = false
      if !topic.isPending { (topic.mark, topic.due) = (nil, now + pause) }
      return beganAnew
    }
    topic.due = now + pause
    if beganAnew {
      // All that the new store has is read.
      topic.asked += 1
      topic.due = now
    } else if !topic.isPending, !misses {
      topic.position = topic.mark ?? topic.position
      topic.mark = page.end
    }
    return false
  }

  /// Reads the same again when there is room.
  mutating func putOff(_ reading: Reading) {
    guard underWay == reading else { return }
    underWay = nil
    topics[reading.type]?.due = .distantPast
  }

  /// Takes note that the engine has not brought what was to be read. Returns whether it did before.
  mutating func fail(_ reading: Reading, at now: NIODeadline) -> Bool {
    guard underWay == reading else { return false }
    underWay = nil
    topics[reading.type]?.failures += 1
    topics[reading.type]?.due = now + .seconds(1)
    return topics[reading.type]?.failures == 1
  }
}
