import DequeModule

/// The messages that wait to leave, in the order of their posts, until the engine has acknowledged them.
///
/// Only one record of a topic is on its way at a time. Therefore a record that is sent again never follows a later one,
/// and messages that are posted meanwhile share the next record. A value without an engine, a lock or a clock.
struct Outbox {
  /// Messages that share a record.
  struct Packed {
    /// The number of the first message, counted for the sender.
    let first: UInt64
    let items: [[UInt8]]
    /// When the first message was posted, in milliseconds since 1970.
    var time: UInt64 = 0
    /// The number of the last message.
    var last: UInt64 { first + UInt64(items.count) - 1 }
  }

  /// A caller that waits for its turn. The stream ends when the turn comes.
  typealias Turn = AsyncStream<Never>.Continuation

  private struct TopicQueue {
    var items: Deque<(bytes: [UInt8], time: UInt64)> = []
    /// The number of the first message.
    var first: UInt64 = 1
    /// Whether a task sends the messages, or is about to.
    var isSending = false
    /// The number of messages on their way, in one record.
    var underWay = 0
    /// The largest number of messages in the next record. It is smaller after a record was too large for the engine.
    var most = Outbox.recordMessages
  }

  /// The largest number of messages in a record, and of bytes if it has several messages.
  static let recordMessages = 500
  static let recordBytes = 64 << 10
  /// The cost of each message in addition to its bytes.
  static let overhead = 64

  let limits: Carriage.Limits
  /// By the sender's number, which is a new one each time a topic is carried.
  private var topics: [UInt64: TopicQueue] = [:]
  private(set) var messages = 0
  private(set) var bytes = 0
  /// The callers that wait for room, in order, each with the size of its message.
  private(set) var queue: Deque<(size: Int, turn: Turn)> = []

  init(limits: Carriage.Limits) { self.limits = limits }

  func hasRoom(for size: Int) -> Bool {
    messages < limits.waitingMessages && bytes + size + Outbox.overhead <= limits.waitingBytes
  }

  /// Reserves room for a message, which the caller then adds or releases. Returns whether there was room.
  mutating func reserve(_ size: Int) -> Bool {
    guard hasRoom(for: size) else { return false }
    messages += 1
    bytes += size + Outbox.overhead
    return true
  }

  /// Reserves room, or enters the queue for it. Returns whether there was room.
  mutating func reserve(_ size: Int, or turn: Turn) -> Bool {
    if queue.isEmpty, reserve(size) { return true }
    queue.append((size, turn))
    return false
  }

  /// Reserves room for the first callers in the queue that fit, and returns them.
  mutating func admit() -> [Turn] {
    var admitted: [Turn] = []
    while let next = queue.first, reserve(next.size) { admitted.append(queue.removeFirst().turn) }
    return admitted
  }

  /// Leaves the queue. Returns false if the caller's turn has come, so that room is reserved for it.
  mutating func leave(_ turn: Turn) -> Bool {
    queue.firstIndex { $0.turn == turn }.map { queue.remove(at: $0) } != nil
  }

  mutating func release(_ size: Int) {
    messages -= 1
    bytes -= size + Outbox.overhead
  }

  /// Takes messages of a topic from now on, until `forget`.
  mutating func open(_ sender: UInt64) { topics[sender] = TopicQueue() }

  func isOpen(_ sender: UInt64) -> Bool { topics[sender] != nil }

  /// Adds a message for which room is reserved. Returns true if no task sends for the topic yet; the caller must then
  /// start one. Releases the room and returns nil if the topic is not open.
  mutating func add(_ item: [UInt8], to sender: UInt64, at time: UInt64 = 0) -> Bool? {
    guard let index = topics.index(forKey: sender) else {
      release(item.count)
      return nil
    }
    defer { topics.values[index].isSending = true }
    topics.values[index].items.append((item, time))
    return !topics.values[index].isSending
  }

  /// The number of messages of the topic that wait.
  func count(_ sender: UInt64) -> Int { topics[sender]?.items.count ?? 0 }

  /// Returns the next messages to send, and the same ones until `finish`. If there are none, it returns nil, and the
  /// caller must stop sending.
  mutating func next(_ sender: UInt64) -> Packed? {
    guard let topic = topics[sender], let time = topic.items.first?.time else {
      topics[sender]?.isSending = false
      return nil
    }
    var (count, bytes) = (topic.underWay, 0)
    if count == 0 {
      let fitting = topic.items.prefix(topic.most).prefix { item in
        bytes += item.bytes.count
        return bytes <= Outbox.recordBytes
      }
      count = max(1, fitting.count)
    }
    topics[sender]?.underWay = count
    return Packed(first: topic.first, items: topic.items.prefix(count).map(\.bytes), time: time)
  }

  /// Call this when the engine has stored the messages that were sent, or never will.
  mutating func finish(_ sender: UInt64) {
    guard var topic = topics.removeValue(forKey: sender) else { return }
    for item in topic.items.prefix(topic.underWay) { release(item.bytes.count) }
    topic.items.removeFirst(topic.underWay)
    topic.first += UInt64(topic.underWay)
    (topic.underWay, topic.most) = (0, min(2 * topic.most, Outbox.recordMessages))
    topics[sender] = topic
  }

  /// Sends half of the record's messages first, because together they are too large for the engine.
  mutating func split(_ sender: UInt64) {
    guard let count = topics[sender]?.underWay else { return }
    topics[sender]?.underWay = count / 2
    topics[sender]?.most = count / 2
  }

  /// Forgets a topic that is no longer carried. Returns the number of its messages that will not leave.
  mutating func forget(_ sender: UInt64) -> UInt64 {
    guard let topic = topics.removeValue(forKey: sender) else { return 0 }
    for item in topic.items { release(item.bytes.count) }
    return UInt64(topic.items.count)
  }
}
