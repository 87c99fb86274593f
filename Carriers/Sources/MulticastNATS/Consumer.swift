import MulticastCarrier

/// What is known here of a consumer of the server's, which sends as many records of a topic as it was asked for.
///
/// A value: it knows no client and no lock.
struct Consumer {
  typealias Waiter = CheckedContinuation<[Record], any Error>
  typealias Delivery = (waiter: Waiter, records: [Record])
  enum Step {
    case wait
    case deliver(Delivery)
    /// It is not the next record.
    case wrong
  }

  let log: Log
  /// Behind what was read.
  private(set) var position: Position
  /// From here on, the server may have dropped records before it sent them: 0 if that is not known.
  var doubt: UInt64?
  /// Who reads, and how many records he takes.
  private(set) var waiter: Waiter?
  private var limit = 0
  /// How many more the server may send, and since when.
  private(set) var asked = 0
  private(set) var since = ContinuousClock.now
  /// Whether the server has ever answered.
  private(set) var hasWorked = false
  private var records: [Record] = []
  private var number: UInt64 = 0
  /// Whether the server has sent all that there is, and sends what comes at once.
  private var isLive = false
  private var isBehind = false

  init(_ log: Log, after position: Position) {
    (self.log, self.position) = (log, position)
    doubt = position.number == 0 ? nil : 0
  }

  /// Takes what waits here to be read.
  mutating func take(_ limit: Int) -> [Record] {
    let taken = Array(records.prefix(limit))
    records.removeFirst(taken.count)
    position = taken.last?.position ?? position
    return taken
  }

  /// Returns whether the server is to be asked for records.
  mutating func wait(_ waiter: Waiter, _ limit: Int) -> Bool {
    (self.waiter, self.limit) = (waiter, limit)
    guard asked == 0 else { return false }
    (asked, since) = (limit, .now)
    return true
  }

  mutating func take(
    _ bytes: [UInt8], _ place: UInt64, number: UInt64, pending: UInt64
  ) -> Step {
    guard number == self.number + 1 else { return .wrong }
    let last = (records.last?.position ?? position).number
    if !isLive, last > 0 { doubt = doubt ?? last }
    records.append(Record(position: Position(epoch: position.epoch, number: place), bytes: bytes))
    (self.number, asked, hasWorked) = (number, max(0, asked - 1), true)
    (isBehind, isLive) = (pending > 0, pending == 0 && asked > 0)
    // More comes at once.
    if isBehind, asked > 0 { return .wait }
    return delivery().map { .deliver($0) } ?? .wait
  }

  /// The server sends no more.
  mutating func finish() -> Delivery? {
    (asked, isLive, hasWorked) = (0, false, true)
    return delivery()
  }

  private mutating func delivery() -> Delivery? {
    waiter.take().map { ($0, take(limit)) }
  }
}
