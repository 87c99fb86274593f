import Crypto
import Logging
import Multicast
import Tracing

/// Carries topics of a center to the centers of other processes, through the logs of an engine.
///
/// A message that is posted to a carried topic is delivered in this process immediately. A copy waits, within limits,
/// until the engine has stored it. Each process reads each log in order, as fast as its handlers take the messages. If
/// the engine drops records before they were read, the carriage reports it.
///
/// ```swift
/// let center = MulticastCenter(carrying: .carriage)
/// let carriage = Carriage(center: center, carrier: carrier, name: "shop")
/// carriage.carry(.price, as: "price")
/// await carriage.run()
/// ```
///
/// You can use a carriage from any thread. It is a service of ServiceLifecycle. It holds no lock while it encodes,
/// sends, reports or posts.
public final class Carriage: Sendable {
  /// How much may wait to leave. A message beyond that stays in this process, and is reported.
  public struct Limits: Sendable {
    /// The number of bytes that may wait, for all topics together: 16 MiB. Each message counts 64 bytes more than its size.
    public var waitingBytes = 16 << 20
    /// The number of messages that may wait, for all topics together: 200,000.
    public var waitingMessages = 200_000
    /// The longest time for each of the two waits of `close()`: for the waiting messages to leave, and for the carrier to close.
    /// 10 seconds.
    public var closing = Duration.seconds(10)

    /// Creates the default limits.
    public init() {}
  }

  /// Where a process begins to read.
  public enum Start: Sendable {
    /// With the messages that arrive after it has begun, and the latest message if the topic keeps it.
    case end
    /// With all records that the engine holds. Of a topic that keeps its latest message, only that one counts.
    case beginning
    /// After a position that ``Carriage/position(of:)`` has returned, perhaps in an earlier process. Of a topic that keeps its
    /// latest message, only that one counts.
    case after(Position)
  }

  struct State {
    var outbox: Outbox
    /// By type, and by the topic's key.
    var lines: [String: Line] = [:]
    var topics: [String: Line] = [:]
    var condition = CarriageState()
    /// Why the engine refuses to return and to store records, by type.
    var refusals = (in: [String: String](), out: [String: String]())
    var told = CarriageState()
    /// The reports that are posted once a second, and how often each has occurred.
    var tally: [CarriageReport: UInt64] = [:]
    /// The number of topics that were ever carried, for the numbers of their senders.
    var carried: UInt64 = 0
    var isClosed: Bool { condition.connection == .closed }
    /// Whether the engine has answered, or could not be reached.
    var hasAnswered = false
    /// The calls of `close()`, which wait until the outbox is empty or the engine cannot be reached.
    var closing: [Outbox.Turn] = []
    /// The calls of `run()`, which wait for the carriage to end. The first one has started the readers.
    var running: [Outbox.Turn] = []

    /// Returns the callers whose wait is over.
    mutating func takeReady() -> [Outbox.Turn] {
      let isAway = isClosed || hasAnswered && condition.connection != .connected
      let isIdle = outbox.messages == 0 || isAway
      return (isClosed ? outbox.queue.map(\.turn) + running : outbox.admit())
        + (isIdle ? closing : [])
    }

    var now: CarriageState {
      var now = condition
      (now.waitingMessages, now.waitingBytes) = (outbox.messages, outbox.bytes)
      now.refusals = refusals.in.merging(refusals.out) { _, out in out }
      return now
    }
  }

  /// The longest name of a topic, in bytes as ``Log/name`` has them.
  static let nameLimit = 200
  /// The last bits of a sender's number, which number the topics of a carriage. They begin again after 16 million.
  static let topicBits: UInt64 = 0xFF_FFFF

  let center: MulticastCenter
  let carrier: any Carrier
  let prefix: String
  let name: String
  let id = UInt64.random(in: 0 ... .max) & ~Carriage.topicBits
  let logger: Logger
  let limits: Limits
  let keys: [SymmetricKey?]
  let state: Locked<State>

  /// Creates a carriage that does not run yet. Messages posted to its topics may leave already, and none come in.
  ///
  /// - Parameters:
  ///   - center: A center that was made with `carrying: .carriage`, which ``run()`` checks. Give it only one carriage.
  ///   - carrier: The carrier of the engine, for this carriage alone.
  ///   - name: The name of this process. Other processes receive up to 63 Unicode scalars of it, without control characters and
  ///     line breaks.
  ///   - prefix: The same in all processes of a team: up to 64 letters, digits, hyphens, underscores and single points.
  ///   - limits: How much may wait to leave.
  ///   - keys: The keys of the team. The first one signs the records of this process, and a record that any of them has
  ///     signed is accepted; nil stands for records without a signature. Every other record is skipped and reported.
  ///   - logger: Logs each report.
  public init(
    center: MulticastCenter, carrier: any Carrier, name: String, prefix: String = "multicast",
    limits: Limits = Limits(), keys: [SymmetricKey?] = [nil],
    logger: Logger = Logger(label: "MulticastCarrier")
  ) {
    Log.checkPrefix(prefix)
    precondition(!keys.isEmpty, "A carriage needs a key, or nil for records without a signature.")
    (self.center, self.carrier, self.prefix, self.logger) = (center, carrier, prefix, logger)
    (self.name, self.limits, self.keys) = (Frame.Sender.name(name), limits, keys)
    state = Locked(State(outbox: Outbox(limits: limits)))
  }

  /// Changes the state, and then resumes the callers whose wait is over.
  func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, ready) = state.withLock { state in (body(&state), state.takeReady()) }
    for turn in ready { turn.finish() }
    return result
  }

  /// The current state.
  public var condition: CarriageState { state.withLock { $0.now } }

  /// The position after the last record of a topic that was handled here, or at which the reading of a topic has begun; nil before
  /// that.
  ///
  /// Store it to go on there after a restart, with `carry(…, from: .after(position))`. Messages that were being handled
  /// when the process ended come again.
  public func position(of type: String) -> Position? {
    state.withLock { $0.lines[type] }?.own.position.withLock(\.self)
  }

  /// Counts a report that is posted once a second.
  func count(_ report: CarriageReport, of line: Line, _ count: UInt64 = 1) {
    switch report {
    case .gap: line.meters.missing.increment(by: count)
    case .kept: line.meters.kept.increment(by: count)
    default: line.meters.skipped.increment(by: count)
    }
    state.withLock { state in
      if case .kept = report { state.condition.kept += count }
      if case .gap = report { state.condition.missing += count }
      let isMuch = state.tally[report] == nil && state.tally.count >= 1_000
      state.tally[isMuch ? report.with(0, isBrief: true) : report, default: 0] += count
    }
  }
}

// MARK: - Topics

extension Carriage {
  /// Carries a topic from now on, in JSON. If the center has a latest message of the topic already, that is sent, and counts in all
  /// processes.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: The topic's name outside the program: any text of up to 200 bytes, in which all but letters, digits,
  ///     hyphens, underscores and single points inside count three times. If it is longer, or if the type or the topic
  ///     is carried already, the carriage reports a refusal.
  ///   - version: The version of the messages that this program writes.
  ///   - oldestReader: The oldest version of a program that can read the messages; nil for `version`.
  ///   - start: Where this process begins to read. By default, it reads what is stored from then on.
  public func carry<Message: Codable & Sendable>(
    _ topic: Topic<Message>, as type: String, version: UInt16 = 1, oldestReader: UInt16? = nil,
    from start: Start = .end
  ) {
    carry(
      topic, as: type, version: version, oldestReader: oldestReader, codec: JSONCodec(), from: start
    )
  }

  /// Carries a topic from now on, with a codec of your own. The latest message that the center has already is sent, too.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: The topic's name outside the program, as for a topic that is carried in JSON.
  ///   - version: The version of the messages that this program writes.
  ///   - oldestReader: The oldest version of a program that can read the messages; nil for `version`.
  ///   - codec: Converts messages to bytes, and bytes to messages.
  ///   - start: Where this process begins to read. By default, it reads what is stored from then on.
  public func carry<Message>(
    _ topic: Topic<Message>, as type: String, version: UInt16 = 1, oldestReader: UInt16? = nil,
    codec: some MessageCodec<Message>, from start: Start = .end
  ) {
    let log = Log(prefix: prefix, type: type, keepsLatest: topic.keepsLatest)
    let size = log.name.utf8.count
    guard (1...Carriage.nameLimit).contains(size) else {
      let reason = "A name has 1 to \(Carriage.nameLimit) bytes, and this one \(size)."
      return tell(.refused(type: String(type.prefix(80)), reason: reason))
    }
    // Created without the lock, because the metrics system is the program's.
    let (meters, key) = (Meters(type), topic.key)
    let begun: (line: Line, isRunning: Bool, isClosed: Bool)? = state.withLock { state in
      guard state.lines[type] == nil, state.topics[key] == nil else { return nil }
      state.carried += 1
      let number = id | state.carried & Carriage.topicBits
      let line = Line(
        topic: key, log: log, sender: Frame.Sender(id: number, name: name),
        version: version, oldest: oldestReader ?? version, start: start, codec: codec,
        meters: meters
      ) { carriage, line, frame in
        await carriage.deliver(frame, of: line, to: topic, codec)
      } latest: { carriage, line in
        carriage.center.latest(of: topic).map { message in
          { carriage.publish(message, of: line, codec, .empty) }
        }
      }
      (state.topics[line.topic], state.lines[type]) = (line, line)
      if !state.isClosed { state.outbox.open(number) }
      return (line, !state.running.isEmpty, state.isClosed)
    }
    guard let (line, isRunning, isClosed) = begun else {
      // The meters of a type that is carried have the same names, and are still used.
      let isUsed = state.withLock { state in
        state.lines[type].map { state.outbox.isOpen($0.sender.id) } ?? false
      }
      if !isUsed { meters.destroy() }
      let reason = "The type or the topic is carried already."
      return tell(.refused(type: type, reason: reason))
    }
    if isClosed {
      meters.destroy()
      line.own.end()
      return
    }
    let observation = center.observe(topic, owner: self, id: type, on: line.home.queue) {
      carriage, message in
      carriage.heard(message, of: line, codec)
    }
    line.own.atEnd { [weak center] in
      observation.cancel()
      line.own.sender.withLock { $0?.cancel() }
      line.meters.destroy()
      // The latest message may be replaced before the topic is carried again, and would count as new then.
      center?.removeLatest(of: topic)
    }
    if isRunning { startReading(line) }
  }

  /// Stops carrying a topic. Its waiting messages stay in this process, and are reported. A record on its way to the
  /// engine is reported, too, although the engine may store it. The center forgets the latest message, as it does when
  /// the carriage ends, unless a message that has come in is just being posted.
  ///
  /// A message that was posted just before may stay here without a report, because the carriage has not heard it yet. Await
  /// `center.post(…).delivered()` first.
  public func stopCarrying(_ type: String) {
    guard let line = state.withLock({ $0.lines[type] }) else { return }
    // Only the first caller goes on. `close()` may have ended the line before.
    guard end(line, .notCarried) || state.withLock(\.isClosed) else { return }
    carrier.release(line.log)
    // Last, so that the log has no other reader before its release.
    state.withLock { state in
      (state.lines[type], state.topics[line.topic]) = (nil, nil)
      (state.refusals.in[type], state.refusals.out[type]) = (nil, nil)
    }
  }

  /// Ends a line. Its waiting messages stay in this process. Returns false if it has ended before.
  @discardableResult
  func end(_ line: Line, _ reason: CarrierError) -> Bool {
    // First, so that a sender whose pause is cancelled finds no message.
    let kept = change { $0.outbox.forget(line.sender.id) }
    if kept > 0 { count(.kept(type: line.type, reason: reason, count: 0), of: line, kept) }
    return line.own.end()
  }

  /// Posts a message that must leave, with the codec of its topic. Waits for room in the outbox, even while the engine
  /// cannot be reached. A large message may wait as long as `center.post` uses all room that becomes free.
  ///
  /// Returns when all handlers in this process have received the message. In an awaiting handler of the same topic, it
  /// returns when the message is about to leave.
  ///
  /// If the topic or the carriage ends just when the message is heard, the message may stay here without an error. It is then
  /// reported as ``CarriageReport/kept(type:reason:count:)``.
  ///
  /// - Throws: A `CarrierError`, or a `CancellationError` if the task is cancelled while it waits. Then no handler
  ///   receives the message. Only with `CarrierError.notCarried` and `.closed`, the handlers of this process may have
  ///   received it.
  public func post<Message>(_ topic: Topic<Message>, _ message: Message) async throws {
    let key = topic.key
    guard let line = state.withLock({ $0.topics[key] }),
      let codec = line.codec as? any MessageCodec<Message>
    else { throw CarrierError.notCarried }
    var context = CarriageContext.current
    let item = try encode(message, codec, context)
    let (room, turn) = AsyncStream<Never>.makeStream()
    let hasRoom = try state.withLock { state in
      if state.isClosed { throw CarrierError.closed }
      return state.outbox.reserve(item.count, or: turn)
    }
    if !hasRoom {
      // Returns at its turn, or when the task or the carriage ends.
      for await _ in room {}
      let isClosed = state.withLock { $0.isClosed }
      if isClosed || Task.isCancelled, change({ $0.outbox.leave(turn) }) {
        throw isClosed ? CarrierError.closed : CancellationError() as any Error
      }
    }
    context = CarriageContext(
      metadata: context.metadata, sender: context.sender, hops: context.hops,
      origin: (id, line.type), item: item)
    await ServiceContext.withValue(context.in(ServiceContext.current)) {
      _ = await center.post(topic, message).delivered()
    }
    if context.isTaken { return }
    // In an awaiting handler of the topic, `delivered()` has not waited.
    await waitUntilHeard(by: [line])
    // If it can still be taken, no handler of the line has heard the message: the topic is no longer carried.
    guard context.take(by: line) else { return }
    change { $0.outbox.release(item.count) }
    throw CarrierError.notCarried
  }
}
