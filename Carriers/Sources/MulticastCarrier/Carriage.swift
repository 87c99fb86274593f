import Dispatch
import Logging
import Multicast

/// Carries topics of a center to the centers of other processes, through the logs of an engine.
///
/// What is posted to a carried topic here is delivered here at once, and waits, within limits, until the engine has
/// stored it. Each process reads each log in order, as fast as its handlers take what it reads. What the engine drops
/// before it was read is reported.
///
/// ```swift
/// let center = MulticastCenter(carrying: .carriage)
/// let carriage = Carriage(center: center, carrier: carrier, name: "shop")
/// carriage.carry(.price, as: "price")
/// await carriage.run()
/// ```
///
/// May be used from any thread. It is a service of ServiceLifecycle. No lock is held while it encodes, sends, reports or
/// posts.
public final class Carriage: Sendable {
  /// How much may wait to leave. What is posted beyond it stays in this process, and is reported.
  public struct Limits: Sendable {
    /// The bytes that may wait, of all topics together: 16 MiB.
    public var waitingBytes = 16 << 20
    /// The messages that may wait, of all topics together.
    public var waitingMessages = 200_000
    /// How long `close()` waits at most until what waits has left.
    public var closing = Duration.seconds(10)

    /// Creates the limits that a carriage has if it is given none.
    public init() {}
  }

  /// Where a process begins to read.
  public enum Start: Sendable {
    /// With what comes after it is there, and the latest message if the topic keeps it.
    case end
    /// With all that the engine has.
    case beginning
    /// Behind a place that was told by ``Carriage/position(of:)`` before, perhaps by an earlier process.
    case after(Position)
  }

  struct State {
    var outbox: Outbox
    /// By type, and by topic.
    var lines: [String: Line] = [:]
    var topics: [String: Line] = [:]
    var condition = CarriageState()
    /// What the engine refuses to give and to store, by type.
    var refusals = (in: [String: String](), out: [String: String]())
    var told = CarriageState()
    /// What is told once a second, and how often it has come.
    var tally: [CarriageReport: UInt64] = [:]
    var carried: UInt64 = 0
    var isRunning = false
    var isClosed: Bool { condition.connection == .closed }
    /// Those who wait until nothing waits to leave, or can.
    var closing: [Outbox.Turn] = []
    /// Those who wait for the end.
    var running: [Outbox.Turn] = []

    /// Whether a line is carried still.
    func carries(_ line: Line) -> Bool { lines[line.type]?.sender == line.sender }

    /// Those whose wait is over.
    mutating func takeReady() -> [Outbox.Turn] {
      let isIdle = outbox.messages == 0 || condition.connection != .connected
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
  /// The last bits of a sender's number, which number the topics of a carriage.
  static let topicBits: UInt64 = 0xFF_FFFF

  let center: MulticastCenter
  let carrier: any Carrier
  let prefix: String
  let name: String
  let id = UInt64.random(in: 0 ... .max) & ~Carriage.topicBits
  let logger: Logger
  let limits: Limits
  let state: Locked<State>

  /// Creates a carriage that does not run yet. What is posted to its topics waits.
  ///
  /// - Parameters:
  ///   - center: A center that was made with `carrying: .carriage`. It may have one carriage.
  ///   - carrier: The engine's, for this carriage alone.
  ///   - name: What this process is called. It is told to the others, cut off at 63 characters.
  ///   - prefix: The same in all processes of a team: up to 64 letters, digits, hyphens, underscores and single points.
  ///   - limits: How much may wait.
  ///   - logger: Logs each report.
  public init(
    center: MulticastCenter, carrier: any Carrier, name: String, prefix: String = "multicast",
    limits: Limits = Limits(), logger: Logger = Logger(label: "MulticastCarrier")
  ) {
    precondition(Log.isPrefix(prefix), "\(prefix) is no prefix of letters, digits, - and _.")
    (self.center, self.carrier, self.prefix, self.logger) = (center, carrier, prefix, logger)
    self.name = Frame.Sender.name(name)
    self.limits = limits
    state = Locked(State(outbox: Outbox(limits: limits)))
  }

  /// Changes the state, and then wakes those whose wait is over by that.
  func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, ready) = state.withLock { state in (body(&state), state.takeReady()) }
    for turn in ready { turn.finish() }
    return result
  }

  /// The state of this moment.
  public var condition: CarriageState { state.withLock { $0.now } }

  /// The place behind the last record of a topic that was handled here; nil before the first one.
  ///
  /// Who stores it can go on there after a restart, with `carry(…, from: .after(position))`. What was being handled when a
  /// process ended comes again.
  public func position(of type: String) -> Position? {
    state.withLock { $0.lines[type] }?.own.position.withLock(\.self)
  }

  /// Counts what is told once a second.
  func count(_ report: CarriageReport, _ count: UInt64 = 1) {
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
  /// Carries a topic from now on, in JSON.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: What it is called outside of the program: any text, of up to 200 bytes in which all but letters, digits,
  ///     hyphens, underscores and single points inside count three times. A longer one, and one that is carried already,
  ///     is reported as refused.
  ///   - version: The version of the messages that this program writes.
  ///   - oldestReader: The oldest version of a program that can read them; nil for `version`.
  ///   - start: Where this process begins to read.
  public func carry<Message: Codable & Sendable>(
    _ topic: Topic<Message>, as type: String, version: UInt16 = 1, oldestReader: UInt16? = nil,
    from start: Start = .end
  ) {
    carry(
      topic, as: type, version: version, oldestReader: oldestReader, codec: JSONCodec(), from: start
    )
  }

  /// Carries a topic from now on, with its messages in the bytes of a codec.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: What it is called outside of the program, as where a topic is carried in JSON.
  ///   - version: The version of the messages that this program writes.
  ///   - oldestReader: The oldest version of a program that can read them; nil for `version`.
  ///   - codec: Makes bytes of messages, and messages of bytes.
  ///   - start: Where this process begins to read.
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
    let begun: (line: Line, isRunning: Bool, isClosed: Bool)? = state.withLock { state in
      guard state.lines[type] == nil else { return nil }
      state.carried += 1
      let number = id | state.carried & Carriage.topicBits
      let line = Line(
        topic: "\(topic)", log: log, sender: Frame.Sender(id: number, name: name),
        version: version, oldest: oldestReader ?? version, start: start, codec: codec
      ) { carriage, line, frame in
        await carriage.deliver(frame, of: line, to: topic, codec)
      } publishLatest: { carriage, line in
        let message = carriage.center.latest(of: topic)
        if let message { carriage.publish(message, of: line, codec, CarriageContext()) }
      }
      (state.topics[line.topic], state.lines[type]) = (line, line)
      return (line, state.isRunning, state.isClosed)
    }
    guard let (line, isRunning, isClosed) = begun else {
      return tell(.refused(type: type, reason: "It is carried already, and goes on as it was."))
    }
    if isClosed { return line.own.end() }
    let observation = center.observe(topic, owner: self, id: type, on: line.home.queue) {
      carriage, message in
      carriage.heard(message, of: line, codec)
    }
    line.own.atEnd { [weak center] in
      observation.cancel()
      // It may be another one before the topic is carried again, and would count as new then.
      center?.removeLatest(of: topic)
    }
    if isRunning { startReading(line) }
  }

  /// Carries a topic no longer. What waits to it stays here, and is reported; so is what is under way, which may leave. The
  /// center forgets the latest message, as it does when the carriage ends.
  public func stopCarrying(_ type: String) {
    guard let line = state.withLock({ $0.lines.removeValue(forKey: type) }) else { return }
    end(line, .notCarried)
    carrier.release(line.log)
    state.withLock { state in
      if state.topics[line.topic]?.sender == line.sender { state.topics[line.topic] = nil }
      (state.refusals.in[type], state.refusals.out[type]) = (nil, nil)
    }
  }

  /// Ends a line. What waits to it stays here.
  func end(_ line: Line, _ reason: CarrierError) {
    line.own.end()
    let kept = change { $0.outbox.forget(line.sender.id) }
    if kept > 0 { count(.kept(type: line.type, reason: reason, count: 0), kept) }
  }

  /// Posts a message that is certain to leave, with the codec of its topic: waits for room, as long as the engine cannot be
  /// reached if need be.
  ///
  /// Returns when everybody in this process has had the message.
  ///
  /// - Throws: A `CarrierError`, or `CancellationError` while it waits. Then nobody gets the message; but
  ///   `CarrierError.notCarried` and `.closed` may also come when this process alone has had it.
  public func post<Message>(_ topic: Topic<Message>, _ message: Message) async throws {
    let name = "\(topic)"
    guard let line = state.withLock({ $0.topics[name] }),
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
      // Until its turn, or the end of the task or of the carriage.
      for await _ in room {}
      let isClosed = state.withLock { $0.isClosed }
      if isClosed || Task.isCancelled, change({ $0.outbox.leave(turn) }) {
        throw isClosed ? CarrierError.closed : CancellationError() as any Error
      }
    }
    let mark = Mark(item, by: line)
    context.mark = mark
    await CarriageContext.$current.withValue(context) {
      _ = await center.post(topic, message).delivered()
    }
    // Nobody has heard it here: it is carried no longer.
    guard mark.take(by: line) else { return }
    change { $0.outbox.release(item.count) }
    throw CarrierError.notCarried
  }
}
