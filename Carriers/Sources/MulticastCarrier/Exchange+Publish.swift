import NIOCore

extension Exchange {
  package mutating func carry(_ type: String, _ topic: Carried) {
    carried[type] = topic
    if isConnected, topic.hears { replays?.ask(type) }
  }

  package mutating func stopCarrying(_ type: String) {
    carried[type] = nil
    latest[type] = nil
    wantedLatest[type] = nil
    replays?.forget(type)
    // The numbers go on if the topic is carried again.
    while let ring = rings[type], ring.count > 0 { forgetFirst(of: type) }
    for peer in peers.keys { peers[peer]?.inflows[type] = nil }
  }

  /// Publishes a message. If it is refused, it stays in this process.
  ///
  /// - Parameter recurs: Whether it was set off by a message to the same topic.
  package mutating func post(
    _ envelope: Envelope, recurs: Bool = false, payloadLimit: Int, at now: NIODeadline
  ) -> CarrierError? {
    let error =
      chains.allows(envelope.origin, recurs: recurs)
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

  mutating func publish(
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
    // Not with `packet`, which copies the exchange.
    let sequence = (rings[envelope.type]?.last ?? 0) + 1
    let payload = Packet.payload(
      header, .message(envelope, sequence: sequence, after: after))
    let size = payload.readableBytes
    guard size <= payloadLimit else { return .tooLarge(bytes: size, limit: payloadLimit) }
    guard makeRoom(size + Carriage.overhead, for: topic, at: now) else {
      return .full(waiting: ringBytes)
    }
    // In place: a copy of a ring would be one of all that it keeps.
    rings[envelope.type, default: Ring()].append(payload, at: now)
    ringBytes += size + Carriage.overhead
    return nil
  }

  /// Whether messages wait that nobody is about to `send`: many are sent in one go.
  package mutating func isToSend(_ type: String) -> Bool {
    isConnected && rings[type]?.isToSend() == true
  }

  /// Hands what waits of a topic to the carrier. As long as more comes that fits in the same payload, only
  /// returns true: then it is to be called again, after what is under way.
  package mutating func send(_ type: String, at now: NIODeadline) -> Bool {
    if rings[type]?.isGrowing(upTo: Exchange.bundle) == true { return true }
    if isConnected { _ = sendWaiting(type, now) }
    return false
  }

  func packet(_ content: Packet.Content) -> ByteBuffer {
    Packet.payload(header, content)
  }

  /// Forgets old messages until a new one fits: at first what has been sent, of the topic that has the
  /// most.
  private mutating func makeRoom(_ size: Int, for topic: Carried, at now: NIODeadline) -> Bool {
    var mayLeave = isConnected
    while ringBytes + size > limits.keptBytes {
      if let type = largestRing(where: { $1.count > $1.waiting }) {
        forgetFirst(of: type)
      } else if mayLeave {
        // What waits for a moment only shall not be given up.
        sendWaiting(at: now)
        mayLeave = false
      } else if topic.overflow != .dropNewest,
        let type = largestRing(where: { carried[$0]?.overflow == .dropOldest && $1.count > 0 })
      {
        forgetFirst(of: type)
      } else {
        return false
      }
    }
    return true
  }

  private func largestRing(where isVictim: (String, Ring) -> Bool) -> String? {
    var largest: (type: String, bytes: Int)?
    for (type, ring) in rings where isVictim(type, ring) {
      if ring.bytes > largest?.bytes ?? -1 { largest = (type, ring.bytes) }
    }
    return largest?.type
  }

  mutating func forgetFirst(of type: String) {
    guard let cost = rings[type]?.cost else { return }
    if rings[type]?.removeFirst() == true { drop(type, .outgoing) }
    ringBytes += (rings[type]?.cost ?? 0) - cost
  }

  /// Counts messages that were given up.
  package mutating func drop(_ type: String, _ way: CarriageReport.Direction, _ count: Int = 1) {
    counts.dropped += count
    bursts.add(.dropped(type, way), count)
  }

  mutating func sendWaiting(at now: NIODeadline) {
    for type in rings.keys.sorted() { guard sendWaiting(type, now) else { return } }
  }

  /// Returns whether the carrier may take more.
  mutating func sendWaiting(_ type: String, _ now: NIODeadline) -> Bool {
    let subject = subject(of: type)
    var size = Exchange.bundle
    while let next = rings[type]?.waiting(behind: header.readableBytes, upTo: size) {
      if let error = handOver(next.payload, subject) {
        guard case .tooLarge = error else { return false }
        if next.count > 1 {
          size = 0
          continue
        }
        keep(type, error)
      }
      rings[type]?.sent(next.count, at: now)
    }
    return true
  }
}

extension Ring {
  var cost: Int { bytes + count * Carriage.overhead }
}
