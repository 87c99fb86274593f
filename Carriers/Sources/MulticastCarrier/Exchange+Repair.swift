import NIOCore

extension Exchange {
  mutating func repair(_ type: String, of peer: Identity, at now: NIODeadline) {
    guard let topic = carried[type] else { return }
    if topic.isCausal { release(type, topic, of: peer, at: now) }
    guard var inflow = peers[peer]?.inflows[type], inflow.misses else { return }
    inflow.startMissing(at: now)
    peers[peer]?.inflows[type] = inflow
    guard let since = inflow.missingSince else { return }
    let patience = inflow.held.isEmpty ? limits.keptTime : limits.repairTime
    let isHere = peers[peer]?.isHere == true
    if now - since > patience || !isHere, waitsForTheEngine(type, of: peer) { return }
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
  mutating func waitsForTheEngine(_ type: String, of peer: Identity) -> Bool {
    guard replays != nil else { return false }
    if let reading = peers[peer]?.inflows[type]?.reading {
      return replays?.hasEnded(reading, of: type) == false
    }
    peers[peer]?.inflows[type]?.reading = replays?.ask(type)
    return true
  }

  mutating func giveUp(
    _ type: String, _ topic: Carried, of peer: Identity, through last: UInt64, at now: NIODeadline
  ) {
    while let gap = peers[peer]?.inflows[type]?.giveUp(through: last) {
      counts.missing &+= gap.missing
      let place = CarriageReport.Place(sender: peer, type: type, sequence: gap.since)
      reports.append(.gapPossible(since: place, missing: gap.missing))
      release(type, topic, of: peer, at: now)
    }
    peers[peer]?.inflows[type]?.restart()
  }

  /// Sends what is still there, and not too much at once.
  mutating func answer(
    _ type: String, _ range: ClosedRange<UInt64>, _ nonce: UInt64, to peer: Identity
  ) {
    let ring = rings[type] ?? Ring()
    let inbox = inbox(of: peer)
    let end = min(range.upperBound, ring.sent)
    var through = min(range.lowerBound, ring.first) - 1
    through = max(through, min(range.upperBound, ring.first - 1))
    var bytes = 0
    var sequence = max(range.lowerBound, ring.first)
    var size = Exchange.bundle
    while sequence <= end, bytes < 1 << 18,
      let next = ring.bundle(sequence...end, behind: header.readableBytes, upTo: size)
    {
      if let error = handOver(next.payload, inbox) {
        guard case .tooLarge = error, next.count > 1 else { break }
        size = 0
        continue
      }
      bytes += next.payload.readableBytes
      sequence += UInt64(next.count)
      through = sequence - 1
    }
    let answer = Packet.Answer(last: ring.sent, through: through, lostThrough: ring.first - 1)
    _ = handOver(packet(.answer(type: type, nonce: nonce, answer)), inbox)
  }

  mutating func take(
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
    if let next = inflow.next, next <= lost, waitsForTheEngine(type, of: peer) { return }
    giveUp(type, topic, of: peer, through: lost, at: now)
    // Without progress, what was sent has been lost on its way, or is still on it.
    if hasProgress {
      peers[peer]?.inflows[type]?.question = nil
      repair(type, of: peer, at: now)
    }
  }
}
