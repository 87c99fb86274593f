import NIOCore

extension Exchange {
  package mutating func connect(at now: NIODeadline) {
    isConnected = true
    for peer in peers.keys {
      peers[peer]?.heard = now
      for type in peers[peer]?.inflows.keys.sorted() ?? [] { peers[peer]?.inflows[type]?.restart() }
    }
    (connected, greetedAll) = (now, now)
    greet(control)
    replays?.connect()
    for (type, topic) in carried where topic.hears { replays?.ask(type) }
    lastBeat = now
    sendWaiting(at: now)
  }

  package mutating func disconnect() { isConnected = false }

  func greet(_ subject: String) { _ = handOver(packet(.hello(places)), subject) }

  /// Tells the others that this process ends.
  package func leave() { if isConnected { _ = handOver(packet(.bye(places)), control) } }

  var places: Places {
    // What the carrier has not taken is not missing yet.
    Places(
      last: rings.compactMapValues { $0.sent > 0 ? $0.sent : nil },
      latest: latest.mapValues(\.stamp))
  }

  package mutating func tick(at now: NIODeadline) {
    // A process that has stood still may have lost what it does not know of yet.
    if let lastTick, now - lastTick > limits.peerTime { replays?.connect() }
    lastTick = now
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
    greetAgain(at: now)
    askForLatest(at: now)
    if lastBeat.map({ now - $0 >= limits.heartbeat }) ?? true {
      lastBeat = now
      _ = handOver(packet(.beat(places)), control)
    }
    for (peer, state) in peers.sorted(by: { $0.key < $1.key }) {
      if state.isHere, now - state.heard > limits.peerTime {
        peers[peer]?.isHere = false
        if state.places != nil { reports.append(.left(peer)) }
      }
      if now - state.heard > limits.peerTime, state.heard > state.replayed {
        peers[peer]?.replayed = now
        for (type, topic) in carried where topic.hears { replays?.ask(type) }
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

  /// Says hello again until somebody answers: what was said at first may have been lost. Who is alone for a second
  /// is heard by the next beat of those who come.
  private mutating func greetAgain(at now: NIODeadline) {
    guard let connected, now - connected <= .seconds(1),
      !peers.values.contains(where: { $0.isHere && $0.places != nil }),
      greetedAll.map({ now - $0 >= Exchange.askAgain }) ?? true
    else { return }
    greetedAll = now
    greet(control)
  }

  mutating func ask(whoIs peer: Identity, at now: NIODeadline) {
    guard peers[peer]?.greeted.map({ now - $0 >= .milliseconds(500) }) ?? true else { return }
    peers[peer]?.greeted = now
    greet(inbox(of: peer))
  }
}
