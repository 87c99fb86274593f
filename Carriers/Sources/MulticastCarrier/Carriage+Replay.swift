import NIOCore

extension Carriage {
  /// Reads on in what the engine has stored, if that is due.
  func readOn() {
    guard let carrier = carrier as? any ReplayingCarrier else { return }
    let next = state.withLockedValue { state -> (Replays.Reading, String)? in
      guard !state.isClosed else { return nil }
      let topics = state.topics
      // Its handlers keep up, or nothing more is read: so nothing is given up because it comes all at once.
      let reading = state.exchange.nextReading(at: .now()) { topics[$0]?.lane?.isBusy != true }
      return reading.map { ($0, state.exchange.subject(of: $0.type)) }
    }
    guard let (reading, subject) = next else { return }
    Task { [logger] in
      do {
        let page = try await carrier.stored(subject, after: reading.position)
        self.handle { $0.exchange.take(page, reading, at: $1) }
        self.readOn()
      } catch {
        let isNew = self.state.withLockedValue { $0.exchange.fail(reading, at: .now()) }
        guard isNew else { return }
        logger.warning(
          "The engine does not bring what it has stored.",
          metadata: ["subject": "\(subject)", "reason": "\(error)"])
      }
    }
  }
}

extension Carriage {
  /// Whether the carriage knows a place in what the engine has stored of each topic.
  package var knowsItsPlaces: Bool {
    state.withLockedValue { state in
      state.topics.keys.allSatisfy { state.exchange.knowsTheStore($0) }
    }
  }
}
