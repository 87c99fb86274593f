import NIOCore

extension Exchange {
  /// After this time, what has not come is asked for again.
  static let askAgain = TimeAmount.milliseconds(200)

  /// Asks again for the values that have not come: whoever has told of them, or of later ones.
  mutating func askForLatest(at now: NIODeadline) {
    for (type, wanted) in wantedLatest.sorted(by: { $0.key < $1.key }) {
      if let own = latest[type], own.stamp >= wanted.stamp {
        wantedLatest[type] = nil
        continue
      }
      guard now - wanted.time >= Exchange.askAgain else { continue }
      wantedLatest[type]?.time = now
      for (peer, state) in peers.sorted(by: { $0.key < $1.key }) where state.isHere {
        guard let stamp = state.places?.latest[type], stamp >= wanted.stamp else { continue }
        _ = handOver(packet(.askLatest(type: type)), inbox(of: peer))
        break
      }
    }
  }

  /// A counter near its end would leave no room for later values.
  func isPlausible(_ stamp: Stamp) -> Bool { stamp.counter < 1 << 62 }

  mutating func take(
    _ envelope: Envelope, _ stamp: Stamp, from peer: Identity
  ) throws(Unreadable) {
    _ = try topic(envelope.type, keepsLatest: true)
    guard isPlausible(stamp) else {
      throw Unreadable("The stamp of \(envelope.type) of \(peer) is not to be believed.")
    }
    if let own = latest[envelope.type], own.stamp >= stamp { return }
    latest[envelope.type] = Latest(envelope: envelope, stamp: stamp, underWay: nil)
    deliverLatest(envelope.type, from: peer)
  }

  mutating func deliverLatest(_ type: String, from peer: Identity) {
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
