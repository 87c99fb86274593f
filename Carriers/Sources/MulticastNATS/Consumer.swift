import MulticastCarrier

/// The local state of a consumer of the server. The server's consumer sends as many records of a topic as this carrier
/// asks for.
///
/// A value without a client or a lock.
struct Consumer {
  typealias Waiter = CheckedContinuation<[Record], any Error>
  /// What the caller does after it has released the lock.
  enum Step {
    case wait
    /// Ask for this number of records.
    case pull(subject: String, name: String, Int)
    case deliver(Waiter, [Record])
    /// The consumer can no longer be used. The error is reported if it never worked.
    case end(name: String, CarrierError?)
  }

  let log: Log
  /// The server's name of the consumer.
  let name: String
  /// The position after the last record that was read.
  private(set) var position: Position
  /// From this number of the stream on, the server may have dropped records before it sent them.
  var doubt: UInt64?
  /// The number of the stream up to which the topic was read.
  private(set) var known: UInt64
  /// The value of `known` if the server has nothing to send: the end of the stream when it was asked.
  private var end: UInt64 = 0
  /// The read that waits, and its limit of records.
  private(set) var waiter: Waiter?
  private var limit = 0
  /// The number of records that the server may still send.
  private var asked = 0
  /// When the server was asked for them.
  private var since = ContinuousClock.now
  /// Whether the server has sent a record since it was asked.
  private var hasSent = false
  /// Whether the server has ever answered.
  private var hasWorked = false
  private var records: [Record] = []
  /// The number of the last record among those that the server's consumer has sent.
  private var number: UInt64 = 0
  /// Whether the server has sent all records, and sends new ones immediately.
  private var isLive = false

  /// - Parameters:
  ///   - read: The number of the stream up to which the topic was read before; nil if it was never read, because records before
  ///     the beginning are not missing.
  ///   - first: The number of the stream's first record.
  ///   - end: The number of the stream's last record, if the topic has no record to read; nil if it has.
  init(
    _ log: Log, _ name: String, after position: Position, read: UInt64?, first: UInt64, end: UInt64?
  ) {
    (self.log, self.name, self.position) = (log, name, position)
    known = max(read ?? 0, max(first, 1) - 1, end ?? 0)
    doubt = read.flatMap { first > $0 &+ 1 ? $0 : nil }
  }

  /// Whether the consumer was not asked for records for 50 seconds. The server deletes it after a minute.
  func isForgotten(at now: ContinuousClock.Instant) -> Bool {
    records.isEmpty && asked == 0 && now - since > .seconds(50)
  }

  /// Whether the server has not even answered that there are no records.
  func isOverdue(_ patience: Duration) -> Bool { asked > 0 && .now - since > patience }

  /// Starts a read of records that are here, or of the next ones to arrive.
  ///
  /// - Parameter end: The end of the stream when the server was last asked.
  mutating func read(_ waiter: Waiter, _ limit: Int, end: UInt64) -> Step {
    (self.waiter, self.limit) = (waiter, limit)
    if !records.isEmpty { return deliver() }
    if asked > 0 { return .wait }
    (asked, hasSent, since, self.end) = (limit, false, .now, end)
    return .pull(subject: "$JS.API.CONSUMER.MSG.NEXT.\(log.stream).\(name)", name: name, limit)
  }

  /// Takes a record with its numbers in the stream and among those sent, and the number of records still to come.
  mutating func take(
    _ bytes: [UInt8], _ place: UInt64, _ number: UInt64, _ pending: UInt64
  ) -> Step {
    guard number == self.number &+ 1 else { return end("A record is missing.") }
    // No record was between two records that follow each other.
    if !isLive, place > known &+ 1 { doubt = doubt ?? known }
    known = max(known, place)
    let position = Position(epoch: position.epoch, number: place, part: mark(bytes))
    records.append(Record(position: position, bytes: bytes))
    (self.number, asked, hasSent, hasWorked) = (number, max(0, asked - 1), true, true)
    isLive = pending == 0 && asked > 0
    // More records come immediately.
    return pending > 0 && asked > 0 ? .wait : deliver()
  }

  /// Takes a status that the server has sent instead of a record.
  mutating func take(_ status: String) -> Step {
    // From 2.10 on, the server also reports that it has sent as many records as it was asked for, perhaps after another question.
    if ["100", "409 Batch Completed"].contains(status) { return .wait }
    // There were no records, or fewer than the limit of records or bytes.
    guard ["404", "408", "409 Message Size Exceeds MaxBytes"].contains(status) else {
      return end(status)
    }
    if status.hasPrefix("409"), !hasSent {
      return .end(name: name, .refused("A record is larger than this connection takes."))
    }
    if !status.hasPrefix("409") { known = max(known, end) }
    (asked, isLive, hasWorked) = (0, false, true)
    return deliver()
  }

  private func end(_ reason: String) -> Step {
    .end(name: name, hasWorked ? nil : .refused("The consumer ends: \(reason)"))
  }

  private mutating func deliver() -> Step {
    guard let waiter = waiter.take() else { return .wait }
    let taken = Array(records.prefix(limit))
    records.removeFirst(taken.count)
    position = taken.last?.position ?? position
    return .deliver(waiter, taken)
  }
}
