import NIOCore

extension Exchange {
  package mutating func receive(_ payload: ByteBuffer, at now: NIODeadline) {
    do throws(Unreadable) {
      let packet = try Packet(payload)
      // Some engines bring back what was published here.
      guard packet.sender != identity else { return }
      try meet(packet.sender, at: now)
      var messages: [Inflow.Held] = []
      for content in packet.contents {
        if case .message(let envelope, let sequence, let after) = content {
          if envelope.type != messages.first?.envelope.type {
            receive(&messages, from: packet.sender)
          }
          messages.append(
            Inflow.Held(sequence: sequence, envelope: envelope, after: after, time: now))
        } else {
          receive(&messages, from: packet.sender)
          receive(content, from: packet.sender, at: now)
        }
      }
      receive(&messages, from: packet.sender)
      if peers[packet.sender]?.places == nil { ask(whoIs: packet.sender, at: now) }
    } catch { skip(error.reason) }
  }

  /// Counts a payload that cannot be used.
  package mutating func skip(_ reason: String, count: Int = 1) {
    counts.skipped += count
    bursts.add(.skipped(reason), count)
  }

  private mutating func receive(
    _ content: Packet.Content, from peer: Identity, at now: NIODeadline
  ) {
    switch content {
    case .message: break  // together with those behind it
    case .latest(let envelope, let stamp):
      do throws(Unreadable) { try take(envelope, stamp, from: peer) } catch { skip(error.reason) }
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

  mutating func meet(_ peer: Identity, at now: NIODeadline) throws(Unreadable) {
    if (peers[peer]?.heard = now) != nil { return }
    if peer.name == identity.name, namesakes.count < 100, namesakes.insert(peer).inserted {
      reports.append(.nameTaken(peer))
    }
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

  func topic(_ type: String, keepsLatest: Bool) throws(Unreadable) -> Carried {
    guard let topic = carried[type], topic.hears else {
      throw Unreadable("This program does not know \(type).")
    }
    guard topic.keepsLatest == keepsLatest else {
      throw Unreadable("\(type) keeps its latest in one program, and not in another.")
    }
    return topic
  }

  /// Receives messages to one topic that came together, and empties the array.
  private mutating func receive(_ messages: inout [Inflow.Held], from peer: Identity) {
    guard let type = messages.first?.envelope.type else { return }
    var rest = messages[...]
    messages = []
    let topic: Carried
    do throws(Unreadable) { topic = try self.topic(type, keepsLatest: false) } catch {
      return skip(error.reason, count: rest.count)
    }
    while let steps = peers[peer]?.take(rest, type, topic.isCausal, limit: limits.heldBytes) {
      for message in rest.prefix(steps.taken) { deliver(message, from: peer) }
      rest = rest.dropFirst(steps.taken)
      guard let message = rest.popFirst(), let step = steps.then else { return }
      switch step {
      case .old: counts.repeated += 1
      case .early, .taken: break
      case .full: isFull = true  // It is asked for later.
      case .next: release(type, topic, of: peer, at: message.time)
      case .implausible:
        skip(
          Unreadable("Message \(message.sequence) of \(peer) to \(type) is not to be believed.")
            .reason)
      }
    }
  }

  mutating func deliver(_ message: Inflow.Held, from peer: Identity) {
    counts.delivered += 1
    deliveries.append(
      Delivery(sender: peer, envelope: message.envelope, sequence: message.sequence, stamp: nil))
  }

  mutating func release(
    _ type: String, _ topic: Carried, of peer: Identity, at now: NIODeadline
  ) {
    var released = release(type, of: peer, at: now)
    // In a causal topic, what others have said may have waited for this.
    while released && topic.isCausal {
      released = false
      for other in peers.keys.sorted() where release(type, of: other, at: now) { released = true }
    }
  }

  mutating func release(_ type: String, of peer: Identity, at now: NIODeadline) -> Bool {
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
  func isReady(_ message: Inflow.Held, at now: NIODeadline) -> Bool {
    let age = now - message.time
    guard !message.after.isEmpty, age < limits.holdBack * 10 else { return true }
    return message.after.allSatisfy { peer, sequence in
      guard peer != identity else { return true }
      // Who has not told its places yet may be the first to be heard.
      guard let inflow = peers[peer]?.inflows[message.envelope.type], let next = inflow.next else {
        return age >= limits.holdBack
      }
      // One that is here and waits itself goes first, in its own time. Only what is forged waits in a circle.
      return next > sequence || age >= limits.holdBack && !inflow.holds(sequence)
    }
  }

  mutating func take(_ places: Places, of peer: Identity, at now: NIODeadline) {
    let isNew = peers[peer]?.places == nil || peers[peer]?.isHere == false
    peers[peer]?.places = places
    peers[peer]?.isHere = true
    for (type, topic) in carried.sorted(by: { $0.key < $1.key })
    where topic.hears && !topic.keepsLatest {
      var inflow = peers[peer]?.inflows[type] ?? Inflow(type, nil)
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
        wantedLatest[type].map({ $0.stamp < stamp || now - $0.time >= Exchange.askAgain }) ?? true
      else { continue }
      wantedLatest[type] = (stamp, now)
      _ = handOver(packet(.askLatest(type: type)), inbox(of: peer))
    }
  }
}
