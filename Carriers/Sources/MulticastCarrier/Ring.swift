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
  /// How many messages waited when somebody who is about to send them looked last.
  private var seen: Int?

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

  /// One payload of the first messages that have not been sent.
  func waiting(behind header: Int, upTo size: Int) -> (payload: ByteBuffer, count: Int)? {
    waiting > 0 ? bundle(sent + 1...last, behind: header, upTo: size) : nil
  }

  /// One payload of the first messages of a range: as many as fit, and at least one.
  ///
  /// - Parameter header: How many bytes the payloads begin with, which stand in one payload once.
  func bundle(
    _ range: ClosedRange<UInt64>, behind header: Int, upTo size: Int
  ) -> (payload: ByteBuffer, count: Int)? {
    guard range.lowerBound >= first, range.upperBound <= last else { return nil }
    let start = Int(range.lowerBound - first)
    var end = start + 1
    var bytes = entries[start].payload.readableBytes
    while end <= Int(range.upperBound - first) {
      let more = entries[end].payload.readableBytes - header
      guard bytes + more <= size else { break }
      bytes += more
      end += 1
    }
    guard end > start + 1 else { return (entries[start].payload, 1) }
    var payload = ByteBuffer()
    payload.reserveCapacity(bytes)
    payload.writeImmutableBuffer(entries[start].payload)
    for index in start + 1..<end {
      let view = entries[index].payload.readableBytesView
      payload.writeBytes(view.dropFirst(header))
    }
    return (payload, end - start)
  }

  /// Takes note that the first messages that waited were sent. From now on they are kept for those who miss
  /// them.
  mutating func sent(_ count: Int, at time: NIODeadline) {
    for index in Int(sent + 1 - first)..<Int(sent + 1 - first) + count {
      entries[index].time = time
    }
    sent += UInt64(count)
  }

  /// Returns whether to send what waits, to the first who asks.
  mutating func isToSend() -> Bool {
    guard waiting > 0, seen == nil else { return false }
    seen = waiting
    return true
  }

  /// Whether more have come since whoever is about to send looked last, and fit in the same payload. So it
  /// is worth to look again.
  mutating func isGrowing(upTo size: Int) -> Bool {
    guard let seen, waiting > seen, waitingBytes < size else {
      seen = nil
      return false
    }
    self.seen = waiting
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
