import DequeModule

/// What waits to leave: messages in the order of their posts, until the engine has acknowledged them.
///
/// One record of a topic at a time is under way. So what is sent again is never behind what came later, and what is
/// posted meanwhile shares the next record. A value: it knows no engine, no lock and no clock.
struct Outbox {
  /// Messages that share a record.
  struct Packed {
    /// The number of the first message among those of the sender.
    let first: UInt64
    let items: [[UInt8]]
    /// The number of the last one.
    var last: UInt64 { first + UInt64(items.count) - 1 }
  }

  /// Ends when it is somebody's turn.
  typealias Turn = AsyncStream<Never>.Continuation

  private struct Lane {
    var items: Deque<[UInt8]> = []
    /// The number of the first one.
    var first: UInt64 = 1
    /// Whether somebody sends, or is about to.
    var isSending = false
    /// How many are under way, in one record.
    var underWay = 0
    /// How many leave in a record of their own each.
    var alone = 0
  }

  /// A record has at most these messages, and these bytes if it has several.
  static let recordMessages = 500
  static let recordBytes = 64 << 10
  /// What each message costs in addition to its bytes.
  static let overhead = 64

  let limits: Carriage.Limits
  /// By the sender's number, which is another one each time that a topic is carried.
  private var lanes: [UInt64: Lane] = [:]
  private(set) var messages = 0
  private(set) var bytes = 0
  /// Who waits for room, each for a message of a size, in the order in which they came.
  private(set) var queue: Deque<(size: Int, turn: Turn)> = []

  init(limits: Carriage.Limits) { self.limits = limits }

  func hasRoom(for size: Int) -> Bool {
    messages < limits.waitingMessages && bytes + size + Outbox.overhead <= limits.waitingBytes
  }

  /// Takes room for a message, which is added later or released. Returns whether there was any.
  mutating func reserve(_ size: Int) -> Bool {
    guard hasRoom(for: size) else { return false }
    messages += 1
    bytes += size + Outbox.overhead
    return true
  }

  /// Takes room, or a place in the queue for it. Returns whether there was room.
  mutating func reserve(_ size: Int, or turn: Turn) -> Bool {
    if queue.isEmpty, reserve(size) { return true }
    queue.append((size, turn))
    return false
  }

  /// Gives room to those in the queue whose turn it is.
  mutating func admit() -> [Turn] {
    var admitted: [Turn] = []
    while let next = queue.first, reserve(next.size) { admitted.append(queue.removeFirst().turn) }
    return admitted
  }

  /// Leaves the queue. Returns false if it has room, because it was somebody's turn.
  mutating func leave(_ turn: Turn) -> Bool {
    queue.firstIndex { $0.turn == turn }.map { queue.remove(at: $0) } != nil
  }

  mutating func release(_ size: Int) {
    messages -= 1
    bytes -= size + Outbox.overhead
  }

  /// Adds a message that has room. Returns whether nobody sends for the topic yet: then the caller does.
  mutating func add(_ item: [UInt8], to sender: UInt64) -> Bool {
    lanes[sender, default: Lane()].items.append(item)
    defer { lanes[sender]?.isSending = true }
    return lanes[sender]?.isSending == false
  }

  /// How many messages of the topic wait; nil if all that waits is enough for a record.
  func waiting(_ sender: UInt64) -> Int? {
    let count = lanes[sender]?.items.count ?? 0
    return count < Outbox.recordMessages && bytes < Outbox.recordBytes ? count : nil
  }

  /// What the topic sends next, and again until it is finished; nil if there is nothing, and then nobody sends for it any
  /// more.
  mutating func next(_ sender: UInt64) -> Packed? {
    guard let lane = lanes[sender], !lane.items.isEmpty else {
      lanes[sender]?.isSending = false
      return nil
    }
    var (count, bytes) = (max(lane.underWay, min(lane.alone, 1)), 0)
    if count == 0 {
      let fitting = lane.items.prefix(Outbox.recordMessages).prefix { item in
        bytes += item.count
        return bytes <= Outbox.recordBytes
      }
      count = max(1, fitting.count)
    }
    lanes[sender]?.underWay = count
    return Packed(first: lane.first, items: Array(lane.items.prefix(count)))
  }

  /// The engine has stored what was sent, or never will.
  mutating func finish(_ sender: UInt64) {
    guard var lane = lanes.removeValue(forKey: sender) else { return }
    for item in lane.items.prefix(lane.underWay) { release(item.count) }
    lane.items.removeFirst(lane.underWay)
    lane.first += UInt64(lane.underWay)
    (lane.alone, lane.underWay) = (max(0, lane.alone - lane.underWay), 0)
    lanes[sender] = lane
  }

  /// Sends each message of the record on its own: one of them is too large.
  mutating func split(_ sender: UInt64) {
    let count = lanes[sender]?.underWay ?? 0
    lanes[sender]?.alone = count
    lanes[sender]?.underWay = 0
  }

  /// Forgets a topic that is carried no longer. Returns how much of it does not leave any more.
  mutating func forget(_ sender: UInt64) -> UInt64 {
    guard let lane = lanes.removeValue(forKey: sender) else { return 0 }
    for item in lane.items { release(item.count) }
    return UInt64(lane.items.count)
  }
}
