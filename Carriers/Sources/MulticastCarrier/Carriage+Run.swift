import Logging
import Multicast
import ServiceLifecycle

extension Carriage: Service {
  /// Carries until the task is cancelled, the service group shuts down, or the carriage is closed. Then sends the
  /// waiting messages, and returns.
  ///
  /// If the center was made without `carrying: .carriage`, it stops a debug build. A release build reports that, carries
  /// nothing, and returns: such a carriage would send each message again that it has received.
  public func run() async {
    guard await CarriageContext.isCarried(by: center) else {
      let reason =
        "The carriage \(name) carries nothing, because its center loses the context of messages. "
        + "Make the center with MulticastCenter(carrying: .carriage)."
      assertionFailure(reason)
      tell(.refused(type: "*", reason: reason))
      return await close()
    }
    let (end, turn) = AsyncStream<Never>.makeStream()
    let lines: [Line]? = change { state in
      state.running.append(turn)
      return state.running.count == 1 && !state.isClosed ? Array(state.lines.values) : nil
    }
    if let lines {
      for line in lines { startReading(line) }
      repeatedly(every: .seconds(1)) { [weak self] in self?.tick() }
    }
    await cancelWhenGracefulShutdown { for await _ in end {} }
    await close()
  }

  /// Sends the waiting messages, for at most `Limits.closing`, and ends the carriage. Then closes the carrier, for at most as long.
  ///
  /// What has not left by then stays in this process, and is reported. A message that is posted after `close()` has
  /// returned is not reported; only `carriage.post` throws `CarrierError.closed`. `close()` does not wait for handlers. If a
  /// handler without a home blocks a topic, messages of that topic that the carriage has not heard are not reported either.
  public func close() async {
    let carried = state.withLock { Array($0.lines.values) }
    await atMost(limits.closing) { [self] in
      await waitUntilHeard(by: carried)
      let (idle, turn) = AsyncStream<Never>.makeStream()
      change { state in
        state.closing.append(turn)
        // The engine may have come back since the last attempt, so wait for the next answer.
        state.hasAnswered = false
      }
      for await _ in idle {}
    }
    let lines = change { state in
      state.condition.connection = .closed
      state.refusals = ([:], [:])
      return state.lines.values
    }
    for line in lines { end(line, .closed) }
    tick()
    await atMost(limits.closing) { [carrier] in await carrier.close() }
  }

  /// Waits until the lines have heard all that this task has posted. Another post arrives in each line's home after that.
  func waitUntilHeard(by lines: [Line]) async {
    let (topic, owner) = (Topic<Bool>("MulticastCarrier.heard by \(id)"), Locked(()))
    for line in lines { center.observe(topic, owner: owner, on: line.home.queue) { _, _ in } }
    await center.post(topic, true).delivered()
    center.removeHandlers(of: topic, owner: owner)
  }

  /// Posts the reports and the state of the last second. Returns whether the carriage is still open.
  @discardableResult
  private func tick() -> Bool {
    let (reports, now, old) = state.withLock { state in
      let now = state.now
      defer { (state.told, state.tally) = (now, [:]) }
      return (state.tally, now, state.told)
    }
    for (report, count) in reports { tell(report.with(count)) }
    if now != old { center.post(.carriageState, now) }
    // `close()` may have posted its state in the meantime. Then that is the one to keep.
    let last = condition
    if last.connection == .closed, last != now { center.post(.carriageState, last) }
    return last.connection != .closed
  }

  /// Logs and posts a report. Call this without a lock held.
  func tell(_ report: CarriageReport) {
    switch report {
    case .connected, .began: logger.info("\(report)")
    default: logger.warning("\(report)")
    }
    center.post(.carriage, report)
  }
}

/// Calls a body in a new task, even if the caller's was cancelled. Returns when the body has returned, or after a time; then it
/// cancels the new task, and does not wait for its end.
func atMost(_ limit: Duration, _ body: @escaping @Sendable () async -> Void) async {
  let clock = Task { try await Task.sleep(for: limit) }
  let work = Task {
    await body()
    clock.cancel()
  }
  _ = await clock.result
  work.cancel()
}
