import NIOCore

// What the engine has stored.

extension Exchange {
  /// What is to be read next in what the engine has stored, if that is due.
  package mutating func nextReading(
    at now: NIODeadline, where hasRoom: (String) -> Bool
  ) -> Replays.Reading? {
    isConnected ? replays?.next(at: now, where: hasRoom) : nil
  }

  /// Whether a place in what the engine has stored of a topic is known.
  package func knowsTheStore(_ type: String) -> Bool { replays?.knows(type) ?? false }

  /// Receives what was stored: what was heard before is left out. What does not fit is read again.
  package mutating func take(
    _ page: StoredPayloads, _ reading: Replays.Reading, at now: NIODeadline
  ) {
    let type = reading.type
    isFull = false
    for payload in page.payloads {
      // A few bytes may be many messages, and many bytes may come at once.
      guard deliveries.count <= limits.waitingMessages / 4,
        deliveries.reduce(0, { $0 + $1.bytes }) <= limits.waitingBytes / 4
      else {
        replays?.putOff(reading)
        return
      }
      // Who has ended long ago is not to be heard by who comes late.
      if reading.isFromStart, let sender = try? Packet(payload).sender,
        peers[sender]?.places == nil
      {
        continue
      }
      receive(payload, at: now)
    }
    let misses = peers.values.contains { $0.inflows[type]?.misses == true }
    if replays?.take(page, reading, misses: misses, isFull: isFull, at: now) == true {
      reports.append(.storeBeganAnew(type: type))
    }
  }

  /// Takes note that nothing came. Returns whether something did before.
  package mutating func fail(_ reading: Replays.Reading, at now: NIODeadline) -> Bool {
    replays?.fail(reading, at: now) ?? false
  }
}
