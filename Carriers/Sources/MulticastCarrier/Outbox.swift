import DequeModule

/// What waits to leave: messages in the order of their posts, packed, until the engine has acknowledged them.
///
/// One record of a topic at a time is under way. So what is sent again is never behind what came later, and what is
/// posted meanwhile shares the next record. A value: it knows no engine, no lock and no clock.
struct Outbox {
  /// Messages that share a record.
  struct Packed {
    /// The number of the first message among those of the sender.
    var first: UInt64
    var items: [UInt8] = []
    /// Where each message ends.
    var ends: [Int] = []
    var count: Int { ends.count }
  }

  private struct Lane {
    var packed: Deque<Packed> = []
    var next: UInt64 = 1
    /// Whether somebody sends, or is about to.
    var isSending = false
    /// Whether the first one is under way, and takes no more messages.
    var isUnderWay = false
  }

  /// A record is closed when it has these bytes or messages.
  static let recordBytes = 64 << 10
  static let recordMessages = 500
  /// What each message costs in addition to its bytes.
  static let overhead = 24

  let limits: Carriage.Limits
  /// By the sender's number, which is another one each time that a topic is carried.
  private var lanes: [UInt64: Lane] = [:]
  private(set) var messages = 0
  private(set) var bytes = 0

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

  mutating func release(_ size: Int, messages count: Int = 1) {
    messages -= count
    bytes -= size + count * Outbox.overhead
  }

  /// Adds a message that has room. Returns whether nobody sends for the topic yet: then the caller does.
  mutating func add(_ item: [UInt8], to sender: UInt64) -> Bool {
    // Out of the dictionary, so that nothing is copied.
    var lane = lanes.removeValue(forKey: sender) ?? Lane()
    defer { lanes[sender] = lane }
    let open = lane.packed.count - 1
    if open >= (lane.isUnderWay ? 1 : 0), lane.packed[open].count < Outbox.recordMessages,
      lane.packed[open].items.count + item.count <= Outbox.recordBytes
    {
      lane.packed[open].items.append(contentsOf: item)
      lane.packed[open].ends.append(lane.packed[open].items.count)
    } else {
      lane.packed.append(Packed(first: lane.next, items: item, ends: [item.count]))
    }
    lane.next += 1
    defer { lane.isSending = true }
    return !lane.isSending
  }

  /// What the topic sends next, and again until it is finished; nil if there is nothing, and then nobody sends for it any
  /// more.
  mutating func next(_ sender: UInt64) -> Packed? {
    guard let packed = lanes[sender]?.packed.first else {
      lanes[sender]?.isSending = false
      return nil
    }
    lanes[sender]?.isUnderWay = true
    return packed
  }

  /// The engine has stored what was sent, or never will.
  mutating func finish(_ sender: UInt64) {
    guard let packed = lanes[sender]?.packed.popFirst() else { return }
    lanes[sender]?.isUnderWay = false
    release(packed.items.count, messages: packed.count)
  }

  /// Sends each message of the record on its own: one of them is too large.
  mutating func split(_ sender: UInt64) {
    guard let packed = lanes[sender]?.packed.popFirst() else { return }
    for (index, end) in packed.ends.enumerated().reversed() {
      let start = index == 0 ? 0 : packed.ends[index - 1]
      let item = Array(packed.items[start..<end])
      lanes[sender]?.packed.prepend(
        Packed(first: packed.first + UInt64(index), items: item, ends: [item.count]))
    }
  }

  /// Forgets a topic that is carried no longer. Returns how much of it does not leave any more.
  mutating func forget(_ sender: UInt64) -> UInt64 {
    guard let lane = lanes.removeValue(forKey: sender) else { return 0 }
    for packed in lane.packed { release(packed.items.count, messages: packed.count) }
    return lane.packed.reduce(0) { $0 + UInt64($1.count) }
  }
}
