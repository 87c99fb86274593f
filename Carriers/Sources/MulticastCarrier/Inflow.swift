import DequeModule
import NIOCore

/// The messages of one sender to one topic as they come in: each once, in the order of their numbers.
struct Inflow: Sendable {
  struct Held {
    let sequence: UInt64
    let envelope: Envelope
    let after: [Identity: UInt64]
    let time: NIODeadline
    var bytes: Int { envelope.cost + after.count * Carriage.overhead }
  }

  struct Question {
    let nonce: UInt64
    let time: NIODeadline
    let next: UInt64
  }

  /// A jump of more messages than these is not believed before the sender has confirmed it.
  static let plausible: UInt64 = 1 << 20

  /// The number of the next message; nil as long as the sender has not told its places.
  private(set) var next: UInt64?
  /// The number of the last message that the sender is known to have published.
  private(set) var told: UInt64 = 0
  /// The number of the last message that was delivered.
  private var delivered: UInt64 = 0
  /// What came too early, in order.
  private(set) var held: Deque<Held> = []
  private(set) var heldBytes = 0
  var question: Question?
  /// Which reading of what the engine has stored is waited for.
  var reading: Int?
  var tries: Int64 = 0
  /// Since when something has been missing, without progress.
  private(set) var missingSince: NIODeadline?
  /// Whether an implausible number has come, which the sender is to be asked about.
  private(set) var isInDoubt = false

  /// Whether anything is missing that the sender may send again.
  var misses: Bool {
    guard let next else { return !held.isEmpty }
    return told >= next || isInDoubt || (held.first.map { $0.sequence > next } ?? false)
  }

  /// Whether a message is here, and does not wait for one of this sender that is missing.
  func holds(_ sequence: UInt64) -> Bool {
    guard let first = held.first, let last = held.last else { return false }
    return first.sequence == next && last.sequence >= sequence
  }

  /// How many messages are known and have not been delivered.
  var lag: UInt64 {
    guard let next else { return UInt64(held.count) }
    return told + 1 > next ? told + 1 - next : 0
  }

  /// The range to ask for.
  var range: ClosedRange<UInt64>? {
    guard let next, misses else { return nil }
    let end = held.first { $0.sequence > next }.map { $0.sequence - 1 } ?? told
    return next...max(next, min(end, next + 16_384))
  }

  /// - Parameter places: What the sender has told, if it has.
  init(_ type: String, _ places: Places?) {
    if let places { _ = tell(places.last[type] ?? 0) }
  }

  /// A message that is `taken` is the next one. One that is `next` is released with those behind it.
  enum Step: Equatable { case old, taken, next, early, implausible, full }

  /// Takes messages as long as each is the next one. Returns how many, and the step of the one behind them.
  mutating func take(
    _ messages: ArraySlice<Held>, isCausal: Bool, limit: Int
  ) -> (taken: Int, then: Step?) {
    var taken = 0
    for message in messages {
      let step = take(message, isCausal: isCausal, limit: limit)
      guard step == .taken else { return (taken, step) }
      taken += 1
    }
    return (taken, nil)
  }

  private mutating func take(_ message: Held, isCausal: Bool, limit: Int) -> Step {
    if let next {
      if message.sequence == next, held.isEmpty, !isCausal, question == nil, !isInDoubt {
        (self.next, delivered) = (next + 1, next)
        told = max(told, next)
        missingSince = nil
        return .taken
      }
      if message.sequence < next { return .old }
      if message.sequence - next > Inflow.plausible {
        isInDoubt = true
        return .implausible
      }
      told = max(told, message.sequence)
    }
    // What came early comes in order, mostly.
    var index = held.endIndex
    while index > 0, held[index - 1].sequence >= message.sequence {
      if held[index - 1].sequence == message.sequence { return .old }
      index -= 1
    }
    let isNext = message.sequence == next
    guard isNext || heldBytes + message.bytes <= limit else { return .full }
    held.insert(message, at: index)
    heldBytes += message.bytes
    return isNext ? .next : .early
  }

  /// Takes the number of the last message, as the sender tells it. Returns whether it can be true.
  mutating func tell(_ last: UInt64) -> Bool {
    guard let next else {
      self.next = min(held.first?.sequence ?? .max, last == .max ? last : last + 1)
      told = max(last, held.last?.sequence ?? 0)
      return true
    }
    guard last < next || last - next <= Inflow.plausible else {
      isInDoubt = true
      return false
    }
    // Who tells less than what came in its name is old, or somebody else speaks in its name.
    if last + 1 < next { isInDoubt = true }
    told = max(told, last)
    return true
  }

  /// The first message, if it is the next one and nothing that it follows is missing.
  mutating func release(where isReady: (Held) -> Bool) -> Held? {
    guard let first = held.first, first.sequence == next, isReady(first) else { return nil }
    held.removeFirst()
    heldBytes -= first.bytes
    next = first.sequence + 1
    delivered = first.sequence
    missingSince = nil
    tries = 0
    return first
  }

  mutating func startMissing(at now: NIODeadline) {
    if missingSince == nil { missingSince = now }
  }

  mutating func nothingMissing() {
    (missingSince, question, tries, reading) = (nil, nil, 0, nil)
  }

  /// Begins anew to wait for what is missing.
  mutating func restart() { nothingMissing() }

  /// Takes the sender's answer. Returns the number of payloads that it has never published.
  mutating func answer(_ answer: Packet.Answer, to question: Question) -> Int {
    isInDoubt = false
    guard var next else { return 0 }
    let count = held.count
    var invented = 0
    // What was delivered before the question was asked, the sender would know.
    if answer.last < .max, answer.last + 1 < question.next, question.next <= next {
      invented = 1
      next = min(delivered, answer.last) + 1
      self.next = next
      self.question = nil
      told = answer.last
    }
    // What came before the question was asked, the sender would know.
    held.removeAll { $0.sequence > answer.last && $0.time <= question.time }
    heldBytes = held.reduce(0) { $0 + $1.bytes }
    told = max(answer.last, held.last?.sequence ?? 0, next - 1)
    return invented + count - held.count
  }

  /// Gives up messages up to a number, as far as they are missing. Returns how many follow which number.
  mutating func giveUp(through last: UInt64) -> (since: UInt64, missing: UInt64)? {
    guard let next, last >= next else { return nil }
    let end = min(last, (held.first?.sequence).map { $0 - 1 } ?? last)
    guard end >= next else { return nil }
    self.next = end + 1
    told = max(told, end)
    missingSince = nil
    tries = 0
    return (next - 1, end - next + 1)
  }
}
