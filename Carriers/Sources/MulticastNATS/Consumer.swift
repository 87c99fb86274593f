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
  /// From here on, the server may have dropped records before it sent them: 0 if that is not known.
  var doubt: UInt64?
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

  init(_ log: Log, _ name: String, after position: Position) {
    (self.log, self.name, self.position) = (log, name, position)
    doubt = position.number == 0 ? nil : 0
  }

  /// Whether the server does not even say that there is nothing.
  var isOverdue: Bool { asked > 0 && .now - since > .seconds(8) }

  /// Somebody reads: what is here, or else what comes.
  mutating func read(_ waiter: Waiter, _ limit: Int) -> Step {
    (self.waiter, self.limit) = (waiter, limit)
    if !records.isEmpty { return deliver() }
    if asked > 0 { return .wait }
    (asked, since) = (limit, .now)
    return .pull(subject: "$JS.API.CONSUMER.MSG.NEXT.\(log.stream).\(name)", name: name, limit)
  }

  /// A record has come, with its places in the stream and among those sent, and how many more there are.
  mutating func take(
    _ bytes: [UInt8], _ place: UInt64, _ number: UInt64, _ pending: UInt64
  ) -> Step {
    guard number == self.number + 1 else { return end("A record is missing.") }
    let last = (records.last?.position ?? position).number
    // Between two records that follow each other, nothing was.
    if !isLive, last > 0, place > last + 1 { doubt = doubt ?? last }
    records.append(Record(position: Position(epoch: position.epoch, number: place), bytes: bytes))
    (self.number, asked, hasWorked) = (number, max(0, asked - 1), true)
    isLive = pending == 0 && asked > 0
    // More comes at once.
    return pending > 0 && asked > 0 ? .wait : deliver()
  }

  /// The server has said something in place of a record.
  mutating func take(_ status: String) -> Step {
    if status == "100" { return .wait }
    // There was nothing, or a part of what was asked for.
    guard ["404", "408"].contains(status) else { return end(status) }
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
