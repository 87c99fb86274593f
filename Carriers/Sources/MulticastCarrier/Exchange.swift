import NIOCore

/// What a carriage does with what is posted and what comes in: the protocol between the processes, without
/// threads, clocks and codecs.
///
/// Each sender numbers its messages to each topic. It keeps what it has published of late, and sends it
/// again to whoever asks. Each receiver holds what came too early, and asks for what is missing. Once a
/// second, every process tells the number of its last messages, so that a loss is seen without a later
/// message.
///
/// A topic that keeps its latest has no numbers: of two values, all processes choose the one with the
/// greater stamp. Who sees that another one has a greater stamp asks for the value.
///
/// All loops go in the order of their keys, so that a seed of the simulation repeats a run.
package struct Exchange: Sendable {
  package struct Carried: Sendable {
    var keepsLatest = false
    var overflow = Overflow.dropOldest
    var hears = true
    var isCausal = false

    package init(
      keepsLatest: Bool = false, overflow: Overflow = .dropOldest, hears: Bool = true,
      isCausal: Bool = false
    ) {
      self.keepsLatest = keepsLatest
      self.overflow = overflow
      self.hears = hears
      self.isCausal = isCausal
    }
  }

  package struct Delivery: Sendable {
    package let sender: Identity
    package let envelope: Envelope
    /// For a message.
    package let sequence: UInt64
    /// For a latest value.
    package let stamp: Stamp?
    var bytes: Int { envelope.cost }
  }

  struct Peer {
    let met: NIODeadline
    var heard: NIODeadline
    var isHere = true
    var places: Places?
    var greeted: NIODeadline?
    /// When the engine was asked for what it may have heard alone of this process's last messages.
    var replayed = NIODeadline.distantPast
    var inflows: [String: Inflow] = [:]

    mutating func take(
      _ messages: ArraySlice<Inflow.Held>, _ type: String, _ isCausal: Bool, limit: Int
    ) -> (taken: Int, then: Inflow.Step?) {
      let places = places
      return inflows[type, default: Inflow(type, places)]
        .take(messages, isCausal: isCausal, limit: limit)
    }
  }

  struct Latest {
    var envelope: Envelope
    var stamp: Stamp
    /// What was delivered last, until it is heard in the center.
    var underWay: Stamp?
  }

  package typealias Send = @Sendable (ByteBuffer, _ subject: String) -> CarrierError?

  /// Messages to a topic that wait share a payload, up to so many bytes.
  static let bundle = 32 << 10

  package let identity: Identity
  /// What stands in front of the contents of each payload.
  let header: ByteBuffer
  let limits: Carriage.Limits
  let prefix: String
  let handOver: Send
  /// Only where the engine stores what is published.
  var replays: Replays?
  /// Whether something could not be held since this was false.
  var isFull = false

  var carried: [String: Carried] = [:]
  var rings: [String: Ring] = [:]
  var ringBytes = 0
  var latest: [String: Latest] = [:]
  /// The values that others have told of and that have been asked for.
  var wantedLatest: [String: (stamp: Stamp, time: NIODeadline)] = [:]
  var peers: [Identity: Peer] = [:]
  var namesakes: Set<Identity> = []
  var chains: Chains
  var isConnected = false
  var connected: NIODeadline?
  var greetedAll: NIODeadline?
  var lastBeat: NIODeadline?
  var lastTrim: NIODeadline?
  var lastTick: NIODeadline?
  var deliveries: [Delivery] = []
  var reports: [CarriageReport] = []
  var bursts = Bursts()
  package internal(set) var counts = Counts()

  /// What has happened since the start.
  package struct Counts: Sendable, Equatable {
    package var published = 0
    package var delivered = 0
    package var repeated = 0
    package var repaired = 0
    package var missing: UInt64 = 0
    package var dropped = 0
    package var skipped = 0
    package var kept = 0
  }

  /// - Parameters:
  ///   - replays: Whether the engine stores what is published.
  ///   - send: Hands a payload to the carrier. Returns nil if it was taken.
  package init(
    identity: Identity, prefix: String, limits: Carriage.Limits, replays: Bool = false,
    send: @escaping Send
  ) {
    self.identity = identity
    self.prefix = prefix
    self.limits = limits
    // What is missing is noticed in less time than is kept.
    if replays { self.replays = Replays(pause: max(limits.keptTime, limits.peerTime * 2)) }
    handOver = send
    chains = Chains(limit: limits.chain)
    header = Packet.header(of: identity)
  }
}

extension Exchange {
  package var control: String { "\(prefix).control" }
  package var inbox: String { inbox(of: identity) }
  package func subject(of type: String) -> String { "\(prefix).topic.\(type)" }
  func inbox(of peer: Identity) -> String {
    "\(prefix).inbox.\(String(peer.start, radix: 16))"
  }
}

// MARK: - Telling

extension Exchange {
  /// What came in since the last call, in the order for each sender and topic.
  package mutating func takeDeliveries() -> [Delivery] {
    defer { deliveries = [] }
    return deliveries
  }

  package mutating func takeReports(at now: NIODeadline) -> [CarriageReport] {
    let told = bursts.take(at: now)
    guard !reports.isEmpty || !told.isEmpty else { return [] }
    defer { reports = [] }
    return reports + told
  }

  /// How many messages wait to leave, and their bytes.
  package var waitingToLeave: (messages: Int, bytes: Int) {
    rings.values.reduce(into: (0, 0)) { sum, ring in
      sum.0 += ring.waiting
      sum.1 += ring.waitingBytes
    }
  }

  package var knownPeers: Int { peers.count }

  /// The processes that are here, and how many of their messages are known and not delivered.
  package var lags: [Identity: UInt64] {
    peers.filter { $0.value.isHere && $0.value.places != nil }
      .mapValues { $0.inflows.values.reduce(0) { $0 &+ $1.lag } }
  }
}
