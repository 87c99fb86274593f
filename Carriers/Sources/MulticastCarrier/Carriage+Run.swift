import Dispatch
import Logging
import Multicast
import ServiceLifecycle

extension Carriage: Service {
  /// Carries until the task is cancelled, the service group shuts down, or the carriage is closed. Then sends what waits, and
  /// ends.
  public func run() async {
    let lines = state.withLock { state in
      if state.isRunning || state.isClosed { return [Line]() }
      state.isRunning = true
      return Array(state.lines.values)
    }
    for line in lines { startReading(line) }
    Task { [weak self] in
      repeat { try? await Task.sleep(for: .seconds(1)) } while self?.tick() == true
    }
    let (end, turn) = AsyncStream<Never>.makeStream()
    change { $0.running.append(turn) }
    await withGracefulShutdownHandler {
      for await _ in end {}
    } onGracefulShutdown: {
      turn.finish()
    }
    await close()
  }

  /// Sends what waits, for ten seconds or as the limits say, and ends.
  ///
  /// What is posted afterwards stays in this process, and is reported. It does not wait for handlers.
  public func close() async {
    // In a task that is not cancelled.
    await Task { await end() }.value
  }

  private func end() async {
    // What was posted before is heard before.
    struct End: Sendable {}
    let topic = Topic<End>("MulticastCarrier.end of \(id)")
    let homes = state.withLock { $0.lines.values.map(\.home.queue) }
    let observations = homes.map { center.observe(topic, owner: self, on: $0) { _, _ in } }
    let (idle, turn) = AsyncStream<Never>.makeStream()
    let limit = Task {
      try await Task.sleep(for: limits.closing)
      turn.finish()
    }
    Task {
      _ = await center.post(topic, End()).delivered()
      change { $0.closing.append(turn) }
    }
    for await _ in idle {}
    limit.cancel()
    for observation in observations { observation.cancel() }
    let lines = change { state in
      state.condition.connection = .closed
      state.refusals = ([:], [:])
      return state.lines.values
    }
    for line in lines { end(line, .closed) }
    await carrier.close()
    tick()
  }

  /// Tells what has come up in a second. Returns whether there is more to come.
  @discardableResult
  private func tick() -> Bool {
    let (reports, now, old) = state.withLock { state in
      let now = state.now
      defer { (state.told, state.tally) = (now, [:]) }
      return (state.tally, now, state.told)
    }
    for (report, count) in reports { tell(report.with(count)) }
    if now != old { center.post(.carriageState, now) }
    return now.connection != .closed
  }

  /// Tells a report. No lock is held.
  func tell(_ report: CarriageReport) {
    switch report {
    case .connected, .began: logger.info("\(report)")
    default: logger.warning("\(report)")
    }
    center.post(.carriage, report)
  }
}
