import Dispatch
import Logging
import Multicast
import NIOConcurrencyHelpers
import NIOCore

/// Carries topics of a center to the centers of other processes.
///
/// What is posted to a carried topic in this process reaches all processes that carry it. Local delivery
/// does not wait for the network. The messages of one process to one topic arrive in the order of its
/// posts, each once, and none is missing that its sender still has: it keeps what it has published for 30
/// seconds, up to 4 MiB. What is missing for good is reported.
///
/// A topic that keeps its latest has one latest value in all processes, whoever posts when, and however
/// late a process is.
///
/// Reports go to the topic `.carriage`, and the state to `.carriageState`.
public final class Carriage: Sendable {
  /// What each message costs in addition to its bytes.
  package static let overhead = 64
  /// How many sentences of an engine are known, so that each is told once.
  private static let knownProblems = 1_000

  struct State {
    var exchange: Exchange
    var topics: [String: Carried] = [:]
    /// How many chains of messages have begun here.
    var roots: UInt64 = 0
    var condition = CarriageState(
      connection: .alone(since: .now, reason: "The carriage does not run yet."))
    /// What the engine has refused since the connection was lost before.
    var problems: Set<String> = []
    var told = (
      state: CarriageState?.none, counts: Exchange.Counts(), time: NIODeadline.distantPast
    )
    var isClosed = false

    /// Leaves what has come in to the lanes of its topics.
    mutating func leaveDeliveries() {
      var rest = exchange.takeDeliveries()[...]
      while let first = rest.first?.envelope {
        let ofOneTopic = rest.prefix { $0.envelope.type == first.type }
        rest = rest[ofOneTopic.endIndex...]
        leave(ofOneTopic, of: first.type)
      }
    }

    private mutating func leave(_ deliveries: ArraySlice<Exchange.Delivery>, of type: String) {
      guard let topic = topics[type], let lane = topic.lane else { return }
      var rest = deliveries
      repeat {
        let readable = rest.prefix { topic.version >= $0.envelope.oldest }
        let dropped = lane.add(readable)
        if dropped > 0 { exchange.drop(type, .incoming, dropped) }
        rest = rest[readable.endIndex...]
        if let newer = rest.popFirst()?.envelope {
          exchange.skip(
            "\(type) has version \(newer.version), which version \(newer.oldest) can read, "
              + "and this program knows \(topic.version).")
        }
      } while !rest.isEmpty
    }

    mutating func currentCondition() -> CarriageState {
      let waiting = exchange.waitingToLeave
      let counts = exchange.counts
      condition.waitingMessages = waiting.messages
      condition.waitingBytes = waiting.bytes
      condition.lag = exchange.lags
      condition.dropped = counts.dropped
      condition.missing = counts.missing
      return condition
    }
  }

  /// A topic, without the type of its messages.
  struct Carried: Sendable {
    let topic: String
    let version: UInt32
    let oldest: UInt32
    /// The home of the carriage for this topic.
    let queue: DispatchQueue
    let codec: any MessageCodec
    var observation: TopicObservation?
    let lane: Lane?
  }

  /// This process among the others.
  public let identity: Identity
  let center: MulticastCenter
  let carrier: any Carrier
  let limits: Limits
  let logger: Logger
  private let meters: Meters
  /// Here the carriage tells what has happened. What leaves and what comes in has a queue for each topic.
  let home = DispatchQueue(label: "Carriage")
  let state: NIOLockedValueBox<State>

  /// Creates a carriage that carries no topic yet.
  ///
  /// - Parameters:
  ///   - center: The center. It was created with `carrying: .carriage`.
  ///   - carrier: The connection to an engine.
  ///   - name: The name of this process among the others. It may be the same after each start.
  ///   - prefix: The beginning of all subjects: letters, digits, `.`, `-` and `_`. Only processes with the
  ///     same prefix hear each other.
  ///   - limits: How much is kept, and how much may wait.
  ///   - logger: Receives each report.
  public init(
    center: MulticastCenter, carrier: any Carrier, name: String, prefix: String = "multicast",
    limits: Limits = Limits(), logger: Logger = Logger(label: "MulticastCarrier")
  ) {
    precondition(
      Carriage.isSubject(prefix),
      "A prefix has letters, digits, points, hyphens and underscores: \(prefix)")
    identity = Identity(name: name)
    self.center = center
    self.carrier = carrier
    self.limits = limits
    var logger = logger
    logger[metadataKey: "carriage"] = "\(identity)"
    self.logger = logger
    meters = Meters(name: name)
    let storing = carrier as? any ReplayingCarrier
    let topics = "\(prefix).topic."
    let exchange = Exchange(
      identity: identity, prefix: prefix, limits: limits, replays: storing != nil
    ) { [carrier] payload, subject in
      do throws(CarrierError) {
        if let storing, subject.hasPrefix(topics) {
          try storing.store(payload, to: subject)
        } else {
          try carrier.publish(payload, to: subject)
        }
      } catch { return error }
      return nil
    }
    state = NIOLockedValueBox(State(exchange: exchange))
    precondition(
      centerCarriesTheContext(),
      "The center of a Carriage is created with MulticastCenter(carrying: .carriage).")
  }

  /// The state of this moment. It is posted to `.carriageState`, too.
  public var condition: CarriageState { state.withLockedValue { $0.currentCondition() } }

  /// Whether all engines take it as a subject, or as a part of one.
  static func isSubject(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        let scalar = Unicode.Scalar(byte)
        return scalar.properties.isAlphabetic && scalar.isASCII
          || "0123456789.-_".utf8.contains(byte)
      }
  }

  /// Whether what a post has in its context reaches a handler at home in a queue.
  private func centerCarriesTheContext() -> Bool {
    struct Probe: Sendable {}
    final class Owner: Sendable {}
    let heard = NIOLockedValueBox(false)
    let owner = Owner()
    let topic = Topic<Probe>("MulticastCarrier.probe")
    let observation = center.observe(topic, owner: owner, on: home) { _, _ in
      heard.withLockedValue { $0 = CarriageContext.current.metadata["probe"] != nil }
    }
    CarriageContext.with(metadata: ["probe": ""]) { _ = center.post(topic, Probe()) }
    home.sync {}
    observation.cancel()
    extendLifetime(owner)
    return heard.withLockedValue { $0 }
  }
}

// MARK: - Handling

extension Carriage {
  /// Handles an event on the thread on which it comes. No client code runs here.
  func handle(_ body: (inout State, NIODeadline) -> Void) {
    let now = NIODeadline.now()
    let reports = state.withLockedValue { state in
      body(&state, now)
      // Under the lock, so that threads do not change the order.
      state.leaveDeliveries()
      return state.exchange.takeReports(at: now)
    }
    for report in reports { home.async { self.tell(report) } }
  }

  /// Runs a body at home, after all that is there already.
  func atHome(_ body: @escaping @Sendable (Carriage) -> Void) async {
    await withCheckedContinuation { done in
      home.async {
        body(self)
        done.resume()
      }
    }
  }

  func tell(_ report: CarriageReport) {
    switch report {
    case .connected:
      state.withLockedValue { $0.condition.connection = .connected }
      logger.info("Connected.")
    case .disconnected(let reason):
      let isNew = state.withLockedValue { state in
        guard !state.isClosed else { return false }
        var since = ContinuousClock.now
        if case .alone(let before, let known) = state.condition.connection {
          // Each attempt fails with the same words.
          if known == reason { return false }
          since = before
        }
        state.condition.connection = .alone(since: since, reason: reason)
        state.condition.problem = nil
        state.problems = []
        return true
      }
      guard isNew else { return }
      logger.warning("Not connected.", metadata: ["reason": "\(reason)"])
    case .problem(let reason):
      let isNew = state.withLockedValue { state in
        state.condition.problem = reason
        // A refusal may come with each message, and name one topic after the other.
        if state.problems.count == Carriage.knownProblems { state.problems = [] }
        return state.problems.insert(reason).inserted
      }
      guard isNew else { return }
      logger.error("The engine refuses something.", metadata: ["reason": "\(reason)"])
    case .joined(let peer): logger.info("A process is there.", metadata: ["peer": "\(peer)"])
    case .left(let peer): logger.info("A process has gone.", metadata: ["peer": "\(peer)"])
    case .nameTaken(let peer):
      logger.warning("Another process has this name.", metadata: ["peer": "\(peer)"])
    case .gapPossible(let place, let missing):
      logger.warning(
        "Messages are missing for good.",
        metadata: [
          "peer": "\(place.sender)", "type": "\(place.type)", "after": "\(place.sequence)",
          "missing": "\(missing)",
        ])
    case .skipped(let reason, let count):
      logger.warning(
        "Payloads are skipped.", metadata: ["reason": "\(reason)", "count": "\(count)"])
    case .storeBeganAnew(let type):
      logger.warning(
        "What the engine had stored is gone, and with it what processes said that have ended.",
        metadata: ["type": "\(type)"])
    case .kept(let type, let reason, let count):
      // A handler may answer what comes in while the carriage ends.
      logger.log(
        level: reason == .closed ? .notice : .error,
        "Messages stay in this process.",
        metadata: ["type": "\(type)", "reason": "\(reason)", "count": "\(count)"])
    case .dropped(let type, let way, let count):
      logger.warning(
        "Messages are given up, because too many wait.",
        metadata: ["type": "\(type)", "way": "\(way)", "count": "\(count)"])
    }
    center.post(.carriage, report)
    tellCondition(at: .now())
  }

  /// Posts the state if it has changed: at once if the connection has or the engine refuses something, and
  /// otherwise once a second at most.
  func tellCondition(at now: NIODeadline) {
    let (new, record) = state.withLockedValue {
      state -> (CarriageState?, (Exchange.Counts, Exchange.Counts, CarriageState)?) in
      let condition = state.currentCondition()
      let counts = state.exchange.counts
      let told = state.told
      let isDue = now - told.time >= .seconds(1)
      guard
        isDue || told.state?.connection != condition.connection
          || told.state?.problem != condition.problem
      else { return (nil, nil) }
      state.told = (condition, counts, now)
      return (told.state == condition ? nil : condition, (counts, told.counts, condition))
    }
    if let (counts, old, condition) = record { meters.record(counts, since: old, condition) }
    if let new { center.post(.carriageState, new) }
  }
}
