import Dispatch
import Logging
import Multicast
import ServiceLifecycle

extension Carriage: Service {
  /// Carries until the task is cancelled or the service group shuts down. Then sends what waits, and ends.
  public func run() async {
    let lines = state.withLock { state in
      if state.isRunning || state.isClosed { return [Line]() }
      state.isRunning = true
      state.condition.connection = .disconnected("The engine has not answered yet.")
      return Array(state.lines.values)
    }
    for line in lines { startReading(line) }
    eachSecond(self) { carriage in
      carriage.tick()
      return carriage.state.withLock { !$0.isClosed }
    }
    try? await gracefulShutdown()
    // In a task that is not cancelled.
    await Task { await self.close() }.value
  }

  /// Sends what waits, for ten seconds or as the limits say, and ends.
  ///
  /// What is posted afterwards stays in this process, and is reported. It does not wait for handlers.
  public func close() async {
    await afterAllThatWasPosted()
    let limit = state.withLock { $0.outbox.limits.closing }
    await withTaskGroup { group in
      group.addTask {
        _ = await self.waits {
          $0.outbox.messages == 0 || $0.condition.connection != .connected
        }
      }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
    let (lines, kept, waiters) = state.withLock { state in
      state.isClosed = true
      state.condition.connection = .closed
      let kept = state.lines.values.map { ($0.type, state.outbox.forget($0.sender.id)) }
      defer { (state.waiters, state.refusals) = ([], [:]) }
      return (state.lines.values, kept, state.waiters)
    }
    for waiter in waiters { waiter.done.resume(returning: false) }
    for line in lines { line.end() }
    for (type, number) in kept where number > 0 {
      count(.kept(type: type, reason: .closed, count: 0), number)
    }
    await carrier.close()
    tick()
  }

  /// Returns when the carriage has heard all that was posted before.
  private func afterAllThatWasPosted() async {
    struct End: Sendable {}
    let topic = Topic<End>("MulticastCarrier.end of \(id)")
    let observation = center.observe(topic, owner: self, on: home) { _, _ in }
    _ = await center.post(topic, End()).delivered()
    observation.cancel()
  }

  private func tick() {
    let (reports, now, old) = state.withLock { state in
      let now = state.now
      defer { (state.told, state.tally) = (now, [:]) }
      return (state.tally, now, state.told)
    }
    for (report, count) in reports { tell(report.counting(count)) }
    guard now != old else { return }
    meters.record(now, since: old)
    center.post(.carriageState, now)
  }

  /// Tells a report. No lock is held.
  func tell(_ report: CarriageReport) {
    switch report {
    case .connected, .began: logger.info("\(report)")
    default: logger.warning("\(report)")
    }
    center.post(.carriage, report)
    switch report {
    case .connected, .disconnected: center.post(.carriageState, condition)
    default: break
    }
  }
}
