import MulticastCarrier

/// What is known here of a consumer of the server's, which sends as many records of a topic as it was asked for.
///
/// A value: it knows no client and no lock.
struct Consumer {
  typealias Waiter = CheckedContinuation<[Record], any Error>
  /// What is to be done without the lock.
  enum Step {
    case wait
    /// So many records are to be asked for.
    case pull(subject: String, name: String, Int)
    case deliver(Waiter, [Record])
    /// It is of no use any more, which is told if it never was.
    case end(name: String, CarrierError?)
  }

  let log: Log
  /// What the server calls it.
  let name: String
  /// Behind what was read.
  private(set) var position: Position
  /// From this number of the stream on, the server may have dropped records before it sent them.
  var doubt: UInt64?
  /// Up to this number, the topic was read.
  private(set) var known: UInt64
  /// What `known` is if the server has nothing to send: the stream's end before it was asked.
  private var end: UInt64 = 0
  /// Who reads, and how many records he takes.
  private(set) var waiter: Waiter?
  private var limit = 0
  /// How many more the server may send, and since when.
  private var asked = 0
  private var since = ContinuousClock.now
  /// Whether the server has ever answered.
  private var hasWorked = false
  private var records: [Record] = []
  private var number: UInt64 = 0
  /// Whether the server has sent all that there is, and sends what comes at once.
  private var isLive = false

  /// - Parameters:
  ///   - known: Up to which number of the stream the topic was read before.
  ///   - first: The number of the stream's first record.
  init(_ log: Log, _ name: String, after position: Position, known: UInt64, first: UInt64) {
    (self.log, self.name, self.position) = (log, name, position)
    self.known = max(known, first == 0 ? 0 : first - 1)
    // What was before a topic was read first is not missed.
    doubt = position.number > 0 && first > known + 1 ? known : nil
  }

  /// Whether the server does not even say that there is nothing.
  func isOverdue(_ patience: Duration) -> Bool { asked > 0 && .now - since > patience }

  /// A task reads: what is here, or else what comes.
  ///
  /// - Parameter end: Where the stream ended when the server has last told.
  mutating func read(_ waiter: Waiter, _ limit: Int, end: UInt64) -> Step {
    (self.waiter, self.limit) = (waiter, limit)
    if !records.isEmpty { return deliver() }
    if asked > 0 { return .wait }
    (asked, since, self.end) = (limit, .now, end)
    return .pull(subject: "$JS.API.CONSUMER.MSG.NEXT.\(log.stream).\(name)", name: name, limit)
  }

  /// A record has come, with its places in the stream and among those sent, and how many more there are.
  mutating func take(
    _ bytes: [UInt8], _ place: UInt64, _ number: UInt64, _ pending: UInt64
  ) -> Step {
    guard number == self.number + 1 else { return end("A record is missing.") }
    // Between two records that follow each other, nothing was.
    if !isLive, known > 0, place > known + 1 { doubt = doubt ?? known }
    known = max(known, place)
    let position = Position(epoch: position.epoch, number: place, part: mark(bytes))
    records.append(Record(position: position, bytes: bytes))
    (self.number, asked, hasWorked) = (number, max(0, asked - 1), true)
    isLive = pending == 0 && asked > 0
    // More comes at once.
    return pending > 0 && asked > 0 ? .wait : deliver()
  }

  /// The server has said something in place of a record.
  mutating func take(_ status: String) -> Step {
    if status == "100" { return .wait }
    // There was nothing, or a part of what was asked for: as many records, or as many bytes.
    guard ["404", "408", "409 Message Size Exceeds MaxBytes"].contains(status) else {
      return end(status)
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
