import DequeModule
import NIOCore

/// What this process has published to one topic of late, so that it can be sent again; and at its end, what
/// has not been sent yet.
struct Ring {
  struct Entry {
    let payload: ByteBuffer
    /// When it was sent; or when it was posted, if it waits.
    var time: NIODeadline
  }

  private var entries: Deque<Entry> = []
  /// The number of the first entry.
  private(set) var first: UInt64 = 1
  /// The number of the last message that the carrier took.
  private(set) var sent: UInt64 = 0
  private(set) var bytes = 0
  /// Whether somebody is about to send what waits.
  var willSend = false

  /// The number of the last message.
  var last: UInt64 { first + UInt64(entries.count) - 1 }
  var count: Int { entries.count }
  var waiting: Int { Int(last - sent) }
  var waitingBytes: Int {
    guard waiting > 0 else { return 0 }
    return waiting == count
      ? bytes : entries.suffix(waiting).reduce(0) { $0 + $1.payload.readableBytes }
  }

  subscript(sequence: UInt64) -> Entry? {
    sequence >= first && sequence <= last ? entries[Int(sequence - first)] : nil
  }

  mutating func append(_ payload: ByteBuffer, at time: NIODeadline) {
    entries.append(Entry(payload: payload, time: time))
    bytes += payload.readableBytes
  }

  /// The first message that has not been sent.
  var next: Entry? { self[sent + 1] }

  /// Takes note that the first message that waited was sent. From now on it is kept for those who miss it.
  mutating func sentNext(at time: NIODeadline) {
    sent += 1
    entries[Int(sent - first)].time = time
  }

  /// Returns whether to send what waits, to the first who asks.
  mutating func isToSend() -> Bool {
    guard waiting > 0, !willSend else { return false }
    willSend = true
    return true
  }

  /// Gives the oldest message up. Returns whether it had not been sent.
  mutating func removeFirst() -> Bool {
    let entry = entries.removeFirst()
    bytes -= entry.payload.readableBytes
    first += 1
    guard sent < first - 1 else { return false }
    sent = first - 1
    return true
  }

  /// Gives up what was sent before a time.
  mutating func removeSent(before time: NIODeadline) {
    while let entry = entries.first, first <= sent, entry.time < time { _ = removeFirst() }
  }
}
