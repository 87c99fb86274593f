import DequeModule
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
    var bytes: Int { envelope.body.readableBytes + Carriage.overhead }
  }

  private struct Peer {
    let met: NIODeadline
    var heard: NIODeadline
    var isHere = true
    var places: Places?
    var greeted: NIODeadline?
    var inflows: [String: Inflow] = [:]
  }

  private struct Latest {
    var envelope: Envelope
    var stamp: Stamp
    /// What was delivered last, until it is heard in the center.
    var underWay: Stamp?
  }

  package typealias Send = @Sendable (ByteBuffer, _ subject: String) -> CarrierError?

  package let identity: Identity
  private let limits: Carriage.Limits
  private let prefix: String
  private let handOver: Send
  private let replays: Bool

  private var carried: [String: Carried] = [:]
  private var rings: [String: Ring] = [:]
  private var ringBytes = 0
  private var waiting: Set<String> = []
  private var latest: [String: Latest] = [:]
  private var askedLatest: [String: NIODeadline] = [:]
  private var peers: [Identity: Peer] = [:]
  private var namesakes: Set<Identity> = []
  private var roots: [UInt64: Int] = [:]
  private var rootOrder: Deque<UInt64> = []
  private var isConnected = false
  private var lastBeat: NIODeadline?
  private var lastTrim: NIODeadline?
  private var deliveries: [Delivery] = []
  private var replayed: Set<String> = []
  private var reports: [CarriageReport] = []
  private var bursts = Bursts()
  package private(set) var counts = Counts()

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
    self.replays = replays
    handOver = send
  }
}

// MARK: - Subjects

extension Exchange {
  package var control: String { "\(prefix).control" }
  package var inbox: String { inbox(of: identity) }
  package func subject(of type: String) -> String { "\(prefix).topic.\(type)" }
  private func inbox(of peer: Identity) -> String {
    "\(prefix).inbox.\(String(peer.start, radix: 16))"
  }
}

// MARK: - Publishing

extension Exchange {
  package mutating func carry(_ type: String, _ topic: Carried) { carried[type] = topic }

  package mutating func stopCarrying(_ type: String) {
    carried[type] = nil
    latest[type] = nil
    // The numbers go on if the topic is carried again.
    while let ring = rings[type], ring.count > 0 { forgetFirst(of: type) }
    waiting.remove(type)
    for peer in peers.keys { peers[peer]?.inflows[type] = nil }
  }

  /// Publishes a message. If it is refused, it stays in this process.
  ///
  /// - Parameter recurs: Whether it was set off by a message to the same topic.
  package mutating func post(
    _ envelope: Envelope, recurs: Bool = false, payloadLimit: Int, at now: NIODeadline
  ) -> CarrierError? {
    let error =
      allows(envelope.origin, recurs)
      ? publish(envelope, payloadLimit, now) : .loop(hops: Int(envelope.origin.hops))
    if let error { keep(envelope.type, error) } else { counts.published += 1 }
    return error
  }

  /// The bytes that wait already, if a message of this size would stay in this process.
  package func isFull(_ type: String, _ size: Int) -> Int? {
    guard let topic = carried[type], !topic.keepsLatest else { return nil }
    let cost = size + Carriage.overhead
    if cost > limits.keptBytes { return ringBytes }
    guard topic.overflow == .dropNewest else { return nil }
    let waiting = waitingToLeave
    let bytes = waiting.bytes + waiting.messages * Carriage.overhead
    return bytes + cost > limits.keptBytes ? bytes : nil
  }

  /// Counts a message that stays in this process.
  package mutating func keep(_ type: String, _ error: CarrierError) {
    counts.kept += 1
    bursts.add(.kept(type), error: error)
  }

  private mutating func publish(
    _ envelope: Envelope, _ payloadLimit: Int, _ now: NIODeadline
  ) -> CarrierError? {
    guard let topic = carried[envelope.type] else { return .notCarried(envelope.type) }
    if topic.keepsLatest {
      let stamp = Stamp(
        counter: (latest[envelope.type]?.stamp.counter ?? 0) + 1, author: identity)
      let payload = packet(.latest(envelope, stamp))
      guard payload.readableBytes <= payloadLimit else {
        return .tooLarge(bytes: payload.readableBytes, limit: payloadLimit)
      }
      let underWay = latest[envelope.type]?.underWay
      latest[envelope.type] = Latest(envelope: envelope, stamp: stamp, underWay: underWay)
      // If it does not leave, the next beat tells that there is a new value.
      if isConnected { _ = handOver(payload, subject(of: envelope.type)) }
      return nil
    }
    var after: [Identity: UInt64] = [:]
    if topic.isCausal {
      for (peer, state) in peers.sorted(by: { $0.key < $1.key }) where after.count < 64 {
        // Nobody shall wait for messages of one who has gone.
        guard now - state.heard <= limits.peerTime else { continue }
        if let next = state.inflows[envelope.type]?.next, next > 1 { after[peer] = next - 1 }
      }
    }
    let payload = packet(
      .message(envelope, sequence: (rings[envelope.type]?.last ?? 0) + 1, after: after))
    let size = payload.readableBytes
    guard size <= payloadLimit else { return .tooLarge(bytes: size, limit: payloadLimit) }
    // What waits for a moment only shall not be given up.
    if ringBytes + size + Carriage.overhead > limits.keptBytes, isConnected {
      sendWaiting(at: now)
    }
    guard makeRoom(size + Carriage.overhead, for: envelope.type, topic) else {
      return .full(waiting: ringBytes)
    }
    // In place: a copy of a ring would be one of all that it keeps.
    rings[envelope.type, default: Ring()].append(payload, at: now)
    ringBytes += size + Carriage.overhead
    waiting.insert(envelope.type)
    return nil
  }

  /// Whether messages wait that nobody is about to `send`: many are sent in one go.
  package mutating func isToSend(_ type: String) -> Bool {
    isConnected && rings[type]?.isToSend() == true
  }

  /// Hands what waits of a topic to the carrier.
  package mutating func send(_ type: String, at now: NIODeadline) {
    rings[type]?.willSend = false
    if isConnected { _ = sendWaiting(type, now) }
  }

  private func packet(_ content: Packet.Content) -> ByteBuffer {
    Packet(sender: identity, content: content).payload()
  }

  /// One post may set off a thousand messages here that recur, or whose chain has gone to and fro a few
  /// times.
  private mutating func allows(_ origin: Origin, _ recurs: Bool) -> Bool {
    guard recurs || origin.hops > 8 else { return true }
    if roots[origin.root] == nil {
      rootOrder.append(origin.root)
      if rootOrder.count > 1_024 { roots[rootOrder.removeFirst()] = nil }
    }
    roots[origin.root, default: 0] += 1
    return roots[origin.root, default: 0] <= limits.chain
  }

  /// Forgets old messages until a new one fits: at first what has been sent, of the topic that has the
  /// most.
  private mutating func makeRoom(_ size: Int, for type: String, _ topic: Carried) -> Bool {
    while ringBytes + size > limits.keptBytes {
      guard let victim = largestRing else { return false }
      let isWaiting = rings[victim].map { $0.count == $0.waiting } ?? false
      if isWaiting && topic.overflow == .dropNewest { return false }
      forgetFirst(of: victim)
    }
    return true
  }

  /// The topic that keeps the most, of those that keep what has been sent; or of those that may drop what has not.
  private var largestRing: String? {
    var largest: (type: String, bytes: Int, isSent: Bool)?
    for (type, ring) in rings where ring.count > 0 {
      let isSent = ring.count > ring.waiting
      guard isSent || carried[type]?.overflow == .dropOldest else { continue }
      if let other = largest, (other.isSent ? 1 : 0, other.bytes) >= (isSent ? 1 : 0, ring.bytes) {
        continue
      }
      largest = (type, ring.bytes, isSent)
    }
    return largest?.type
  }

  private mutating func forgetFirst(of type: String) {
    guard let cost = rings[type]?.cost else { return }
    if rings[type]?.removeFirst() == true { drop(type, .outgoing) }
    ringBytes += (rings[type]?.cost ?? 0) - cost
  }

  /// Counts messages that were given up.
  package mutating func drop(_ type: String, _ way: CarriageReport.Direction, _ count: Int = 1) {
    counts.dropped += count
    bursts.add(.dropped(type, way), count)
  }

  private mutating func sendWaiting(at now: NIODeadline) {
    for type in waiting.sorted() { guard sendWaiting(type, now) else { return } }
  }

  /// Returns whether the carrier may take more.
  private mutating func sendWaiting(_ type: String, _ now: NIODeadline) -> Bool {
    let subject = subject(of: type)
    while let entry = rings[type]?.next {
      if let error = handOver(entry.payload, subject) {
        guard case .tooLarge = error else { return false }
        keep(type, error)
      }
      rings[type]?.sentNext(at: now)
    }
    waiting.remove(type)
    return true
  }
}

extension Ring {
  var cost: Int { bytes + count * Carriage.overhead }
}

// MARK: - Connection

extension Exchange {
  package mutating func connect(at now: NIODeadline) {
    isConnected = true
    for peer in peers.keys {
      peers[peer]?.heard = now
      for type in peers[peer]?.inflows.keys.sorted() ?? [] { peers[peer]?.inflows[type]?.restart() }
    }
    greet(control)
    if replays { replayed = Set(carried.filter { $0.value.hears && !$0.value.keepsLatest }.keys) }
    lastBeat = now
    sendWaiting(at: now)
  }

  package mutating func disconnect() { isConnected = false }

  private func greet(_ subject: String) { _ = handOver(packet(.hello(places)), subject) }

  /// Tells the others that this process ends.
  package func leave() { if isConnected { _ = handOver(packet(.bye(places)), control) } }

  private var places: Places {
    // What the carrier has not taken is not missing yet.
    Places(
      last: rings.compactMapValues { $0.sent > 0 ? $0.sent : nil },
      latest: latest.mapValues(\.stamp))
  }

  package mutating func tick(at now: NIODeadline) {
    if lastTrim.map({ now - $0 >= .seconds(1) }) ?? true {
      lastTrim = now
      for type in Array(rings.keys) {
        let cost = rings[type]?.cost ?? 0
        rings[type]?.removeSent(before: now - limits.keptTime)
        ringBytes += (rings[type]?.cost ?? 0) - cost
      }
    }
    guard isConnected else { return }
    sendWaiting(at: now)
    if lastBeat.map({ now - $0 >= limits.heartbeat }) ?? true {
      lastBeat = now
      _ = handOver(packet(.beat(places)), control)
    }
    for (peer, state) in peers.sorted(by: { $0.key < $1.key }) {
      if state.isHere, now - state.heard > limits.peerTime {
        peers[peer]?.isHere = false
        if state.places != nil { reports.append(.left(peer)) }
      }
      if state.places == nil && now - state.met > limits.repairTime {
        // Who does not tell its places begins with what came first.
        let places = state.inflows.compactMapValues { $0.held.first.map { $0.sequence - 1 } }
        take(Places(last: places), of: peer, at: now)
      } else if state.places == nil, state.isHere {
        ask(whoIs: peer, at: now)
      }
      for type in state.inflows.keys.sorted() { repair(type, of: peer, at: now) }
      // Who has gone for long and was heard completely is forgotten.
      if !state.isHere, now - state.heard > .minutes(10) { peers[peer] = nil }
    }
  }

  private mutating func ask(whoIs peer: Identity, at now: NIODeadline) {
    guard peers[peer]?.greeted.map({ now - $0 >= .milliseconds(500) }) ?? true else { return }
    peers[peer]?.greeted = now
    greet(inbox(of: peer))
  }
}

// MARK: - Receiving

extension Exchange {
  package mutating func receive(_ payload: ByteBuffer, at now: NIODeadline) {
    do throws(Unreadable) {
      let packet = try Packet(payload)
      // Some engines bring back what was published here.
      guard packet.sender != identity else { return }
      try receive(packet, at: now)
    } catch { skip(error.reason) }
  }

  /// Counts a payload that cannot be used.
  package mutating func skip(_ reason: String, count: Int = 1) {
    counts.skipped += count
    bursts.add(.skipped(reason), count)
  }

  private mutating func receive(_ packet: Packet, at now: NIODeadline) throws(Unreadable) {
    let peer = packet.sender
    try meet(peer, at: now)
    switch packet.content {
    case .message(let envelope, let sequence, let after):
      let topic = try topic(envelope.type, keepsLatest: false)
      if peers[peer]?.places == nil { ask(whoIs: peer, at: now) }
      let message = Inflow.Held(sequence: sequence, envelope: envelope, after: after, time: now)
      try take(message, topic, from: peer)
    case .latest(let envelope, let stamp):
      _ = try topic(envelope.type, keepsLatest: true)
      try take(envelope, stamp, from: peer)
    case .hello(let places):
      take(places, of: peer, at: now)
      if isConnected { _ = handOver(self.packet(.beat(self.places)), inbox(of: peer)) }
    case .beat(let places): take(places, of: peer, at: now)
    case .bye(let places):
      take(places, of: peer, at: now)
      peers[peer]?.isHere = false
      reports.append(.left(peer))
      for type in (peers[peer]?.inflows.keys.sorted() ?? []) { repair(type, of: peer, at: now) }
    case .ask(let type, let range, let nonce): answer(type, range, nonce, to: peer)
    case .answer(let type, let nonce, let answer): take(answer, type, nonce, from: peer, at: now)
    case .askLatest(let type):
      if let value = latest[type] {
        _ = handOver(self.packet(.latest(value.envelope, value.stamp)), inbox(of: peer))
      }
    }
  }

  private mutating func meet(_ peer: Identity, at now: NIODeadline) throws(Unreadable) {
    if peers[peer] != nil {
      peers[peer]?.heard = now
      return
    }
    if peer.name == identity.name, namesakes.count < 100, namesakes.insert(peer).inserted {
      reports.append(.nameTaken(peer))
    }
    if peers[peer] == nil {
      // Payloads with invented senders shall not fill the memory.
      if peers.count >= limits.peers {
        guard
          let oldest = peers.lazy.filter({ !$0.value.isHere || $0.value.places == nil })
            .min(by: { $0.value.heard < $1.value.heard })?.key
        else { throw Unreadable("There are more than \(limits.peers) processes.") }
        peers[oldest] = nil
      }
      peers[peer] = Peer(met: now, heard: now)
    }
    peers[peer]?.heard = now
  }

  private func topic(_ type: String, keepsLatest: Bool) throws(Unreadable) -> Carried {
    guard let topic = carried[type], topic.hears else {
      throw Unreadable("This program does not know \(type).")
    }
    guard topic.keepsLatest == keepsLatest else {
      throw Unreadable("\(type) keeps its latest in one program, and not in another.")
    }
    return topic
  }

  private mutating func take(
    _ message: Inflow.Held, _ topic: Carried, from peer: Identity
  ) throws(Unreadable) {
    let type = message.envelope.type
    if peers[peer]?.inflows[type] == nil {
      let inflow = newInflow(type, of: peer)
      peers[peer]?.inflows[type] = inflow
    }
    guard
      let step = peers[peer]?.inflows[type]?.take(
        message, isCausal: topic.isCausal, limit: limits.heldBytes)
    else { return }
    switch step {
    case .old: counts.repeated += 1
    case .early, .full: break  // If it is not held, it is asked for later.
    case .taken: deliver(message, from: peer)
    case .next: release(type, topic, of: peer, at: message.time)
    case .implausible:
      throw Unreadable("Message \(message.sequence) of \(peer) to \(type) is not to be believed.")
    }
  }

  private mutating func deliver(_ message: Inflow.Held, from peer: Identity) {
    counts.delivered += 1
    deliveries.append(
      Delivery(sender: peer, envelope: message.envelope, sequence: message.sequence, stamp: nil))
  }

  private func newInflow(_ type: String, of peer: Identity) -> Inflow {
    var inflow = Inflow()
    if let places = peers[peer]?.places { _ = inflow.tell(places.last[type] ?? 0) }
    return inflow
  }

  private mutating func release(
    _ type: String, _ topic: Carried, of peer: Identity, at now: NIODeadline
  ) {
    var released = release(type, of: peer, at: now)
    // In a causal topic, what others have said may have waited for this.
    while released && topic.isCausal {
      released = false
      for other in peers.keys.sorted() where release(type, of: other, at: now) { released = true }
    }
  }

  private mutating func release(_ type: String, of peer: Identity, at now: NIODeadline) -> Bool {
    guard var inflow = peers[peer]?.inflows[type] else { return false }
    var released = false
    while let message = inflow.release(where: { isReady($0, at: now) }) {
      released = true
      if inflow.question != nil { counts.repaired += 1 }
      deliver(message, from: peer)
    }
    if !inflow.misses { inflow.nothingMissing() }
    peers[peer]?.inflows[type] = inflow
    return released
  }

  /// Whether all that the sender had heard when it posted this was delivered here, or has had the time to
  /// come.
  private func isReady(_ message: Inflow.Held, at now: NIODeadline) -> Bool {
    guard !message.after.isEmpty, now - message.time < limits.holdBack else { return true }
    return message.after.allSatisfy { peer, sequence in
      guard peer != identity else { return true }
      // Who has not told its places yet may be the first to be heard.
      guard let next = peers[peer]?.inflows[message.envelope.type]?.next else { return false }
      return next > sequence
    }
  }

  private mutating func take(_ places: Places, of peer: Identity, at now: NIODeadline) {
    let isNew = peers[peer]?.places == nil || peers[peer]?.isHere == false
    peers[peer]?.places = places
    peers[peer]?.isHere = true
    for (type, topic) in carried.sorted(by: { $0.key < $1.key })
    where topic.hears && !topic.keepsLatest {
      var inflow = peers[peer]?.inflows[type] ?? Inflow()
      let last = places.last[type] ?? 0
      let isPlausible = inflow.tell(last)
      peers[peer]?.inflows[type] = inflow
      if !isPlausible { skip("\(peer) tells of \(last) messages to \(type).") }
      release(type, topic, of: peer, at: now)
    }
    if isNew { reports.append(.joined(peer)) }
    for (type, stamp) in places.latest.sorted(by: { $0.key < $1.key }) {
      guard let topic = carried[type], topic.keepsLatest, topic.hears, isPlausible(stamp),
        latest[type].map({ $0.stamp < stamp }) ?? true,
        askedLatest[type].map({ now - $0 >= .milliseconds(300) }) ?? true
      else { continue }
      askedLatest[type] = now
      _ = handOver(packet(.askLatest(type: type)), inbox(of: peer))
    }
  }
}

// MARK: - Repair

extension Exchange {
  private mutating func repair(_ type: String, of peer: Identity, at now: NIODeadline) {
    guard let topic = carried[type] else { return }
    if topic.isCausal { release(type, topic, of: peer, at: now) }
    guard var inflow = peers[peer]?.inflows[type], inflow.misses else { return }
    inflow.startMissing(at: now)
    peers[peer]?.inflows[type] = inflow
    guard let since = inflow.missingSince else { return }
    let patience = inflow.held.isEmpty ? limits.keptTime : limits.repairTime
    let isHere = peers[peer]?.isHere == true
    if now - since > patience || !isHere, waitsForTheEngine(type, of: peer, at: now) { return }
    if now - since > patience {
      return giveUp(type, topic, of: peer, through: inflow.range?.upperBound ?? 0, at: now)
    }
    // Who has ended answers for a moment.
    guard let state = peers[peer], state.isHere || now - state.heard < .seconds(1),
      let range = inflow.range
    else { return }
    // What is under way shall not be asked for, nor what was asked for just now.
    let pause = TimeAmount.milliseconds(
      inflow.question == nil ? (inflow.held.isEmpty ? 100 : 10) : 250 * min(4, inflow.tries))
    guard now - (inflow.question?.time ?? since) >= pause else { return }
    let question = Inflow.Question(
      nonce: .random(in: 0 ... .max), time: now, next: range.lowerBound)
    peers[peer]?.inflows[type]?.question = question
    peers[peer]?.inflows[type]?.tries += 1
    _ = handOver(packet(.ask(type: type, range, nonce: question.nonce)), inbox(of: peer))
  }

  /// Asks the engine once for what it has stored, and waits for that.
  private mutating func waitsForTheEngine(
    _ type: String, of peer: Identity, at now: NIODeadline
  ) -> Bool {
    guard replays else { return false }
    if let end = peers[peer]?.inflows[type]?.replaysUntil { return now < end }
    peers[peer]?.inflows[type]?.replaysUntil = now + .seconds(5)
    replayed.insert(type)
    return true
  }

  private mutating func giveUp(
    _ type: String, _ topic: Carried, of peer: Identity, through last: UInt64, at now: NIODeadline
  ) {
    while let gap = peers[peer]?.inflows[type]?.giveUp(through: last) {
      counts.missing += gap.missing
      let place = CarriageReport.Place(sender: peer, type: type, sequence: gap.since)
      reports.append(.gapPossible(since: place, missing: gap.missing))
      release(type, topic, of: peer, at: now)
    }
    peers[peer]?.inflows[type]?.restart()
  }

  /// Sends what is still there, and not too much at once.
  private mutating func answer(
    _ type: String, _ range: ClosedRange<UInt64>, _ nonce: UInt64, to peer: Identity
  ) {
    let ring = rings[type] ?? Ring()
    let inbox = inbox(of: peer)
    var through = min(range.lowerBound, ring.first) - 1
    through = max(through, min(range.upperBound, ring.first - 1))
    var bytes = 0
    var sequence = max(range.lowerBound, ring.first)
    while sequence <= min(range.upperBound, ring.sent), bytes < 1 << 18 {
      guard let entry = ring[sequence], handOver(entry.payload, inbox) == nil else { break }
      bytes += entry.payload.readableBytes
      through = sequence
      sequence += 1
    }
    let answer = Packet.Answer(last: ring.sent, through: through, lostThrough: ring.first - 1)
    _ = handOver(packet(.answer(type: type, nonce: nonce, answer)), inbox)
  }

  private mutating func take(
    _ answer: Packet.Answer, _ type: String, _ nonce: UInt64, from peer: Identity,
    at now: NIODeadline
  ) {
    guard let topic = carried[type], var inflow = peers[peer]?.inflows[type],
      let question = inflow.question, question.nonce == nonce
    else { return }
    let invented = inflow.answer(answer, to: question)
    let hasProgress = inflow.next.map { $0 > question.next } ?? false
    if !inflow.misses { inflow.nothingMissing() }
    peers[peer]?.inflows[type] = inflow
    if invented > 0 { skip("\(peer) has never published what came in its name.", count: invented) }
    let lost = min(answer.lostThrough, answer.last)
    if let next = inflow.next, next <= lost, waitsForTheEngine(type, of: peer, at: now) { return }
    giveUp(type, topic, of: peer, through: lost, at: now)
    // Without progress, what was sent has been lost on its way, or is still on it.
    if hasProgress {
      peers[peer]?.inflows[type]?.question = nil
      repair(type, of: peer, at: now)
    }
  }
}

// MARK: - Latest values

extension Exchange {
  /// A counter near its end would leave no room for later values.
  private func isPlausible(_ stamp: Stamp) -> Bool { stamp.counter < 1 << 62 }

  private mutating func take(
    _ envelope: Envelope, _ stamp: Stamp, from peer: Identity
  ) throws(Unreadable) {
    guard isPlausible(stamp) else {
      throw Unreadable("The stamp of \(envelope.type) of \(peer) is not to be believed.")
    }
    if let own = latest[envelope.type], own.stamp >= stamp { return }
    latest[envelope.type] = Latest(envelope: envelope, stamp: stamp, underWay: nil)
    deliverLatest(envelope.type, from: peer)
  }

  private mutating func deliverLatest(_ type: String, from peer: Identity) {
    guard let value = latest[type] else { return }
    latest[type]?.underWay = value.stamp
    counts.delivered += 1
    deliveries.append(
      Delivery(sender: peer, envelope: value.envelope, sequence: 0, stamp: value.stamp))
  }

  /// Takes note that a value has reached the center. If it came behind a later one, that follows again: so
  /// the center ends with the value that all others have.
  package mutating func heard(_ stamp: Stamp, of type: String) {
    guard let value = latest[type] else { return }
    if value.underWay == stamp { latest[type]?.underWay = nil }
    if stamp < value.stamp, value.underWay != value.stamp { deliverLatest(type, from: identity) }
  }
}

// MARK: - Telling

extension Exchange {
  /// What came in since the last call, in the order for each sender and topic.
  package mutating func takeDeliveries() -> [Delivery] {
    defer { deliveries = [] }
    return deliveries
  }

  /// The topics of which the engine is to be asked for what it has stored.
  package mutating func takeReplays() -> Set<String> {
    defer { replayed = [] }
    return replayed
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
      .mapValues { $0.inflows.values.reduce(0) { $0 + $1.lag } }
  }
}
