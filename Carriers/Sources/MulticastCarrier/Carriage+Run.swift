import Dispatch
import Multicast
import NIOCore
import ServiceLifecycle

extension Carriage: Service {
  private static let tick = DispatchTimeInterval.milliseconds(50)

  /// Connects, and carries until the task is cancelled or the service group shuts down. Then sends what
  /// waits, and ends.
  ///
  /// A carriage runs once.
  public func run() async {
    let (control, own) = state.withLockedValue { state in
      if case .alone(let since, _) = state.condition.connection {
        state.condition.connection = .alone(
          since: since, reason: "The engine has not answered yet.")
      }
      return (state.exchange.control, state.exchange.inbox)
    }
    carrier.subscribe(to: control)
    carrier.subscribe(to: own)
    carrier.open { [weak self] event in self?.take(event) }
    let timer = DispatchSource.makeTimerSource(queue: home)
    timer.schedule(
      deadline: .now() + Carriage.tick, repeating: Carriage.tick, leeway: .milliseconds(10))
    timer.setEventHandler { [weak self] in self?.tick() }
    timer.activate()
    try? await gracefulShutdown()
    timer.cancel()
    await close()
  }

  /// Sends what waits, tells the others that this process ends, and ends.
  ///
  /// What is posted afterwards stays in this process, and is reported. `run` calls this at its end. It does not
  /// return because of it: cancel its task, or shut its service group down.
  public func close() async {
    guard !state.withLockedValue({ $0.isClosed }) else { return }
    await afterAllThatWasPosted()
    let end = NIODeadline.now() + .seconds(10)
    repeat {
      await atHome { $0.tick() }
      let waits = state.withLockedValue { $0.exchange.waitingToLeave.messages > 0 }
      guard waits, condition.connection == .connected, NIODeadline.now() < end else { break }
      try? await Task.sleep(for: .milliseconds(20))
    } while true
    let hasPeers = state.withLockedValue { state in
      state.exchange.leave()
      state.isClosed = true
      return !state.exchange.lags.isEmpty
    }
    // Who misses something of this process asks for it now.
    let isConnected = condition.connection == .connected
    if hasPeers && isConnected { await uncancelledSleep(.milliseconds(200)) }
    await carrier.close()
    await atHome { carriage in
      let lanes = carriage.state.withLockedValue { state in
        state.condition.connection = .closed
        return state.topics.values.compactMap(\.lane)
      }
      for lane in lanes { lane.end() }
      carriage.tellCondition(at: .now())
    }
  }

  /// Returns when the carriage has heard all that was posted before, and every topic's handlers without a home
  /// have had what they are called with.
  private func afterAllThatWasPosted() async {
    struct End: Sendable {}
    let topic = Topic<End>("MulticastCarrier.end of \(identity)")
    let queues = state.withLockedValue { $0.topics.values.map(\.queue) }
    let observations = queues.map { center.observe(topic, owner: self, on: $0) { _, _ in } }
    await center.post(topic, End()).delivered()
    for observation in observations { observation.cancel() }
  }

  private func uncancelledSleep(_ time: DispatchTimeInterval) async {
    await withCheckedContinuation { done in
      home.asyncAfter(deadline: .now() + time) { done.resume() }
    }
  }

  /// At home.
  private func tick() {
    handle { state, now in
      state.exchange.tick(at: now)
      for topic in state.topics.values { topic.lane?.tick(at: now) }
    }
    readOn()
    tellCondition(at: .now())
  }

  private func take(_ event: CarrierEvent) {
    switch event {
    case .payload(let payload): handle { $0.exchange.receive(payload, at: $1) }
    case .connected:
      handle { $0.exchange.connect(at: $1) }
      home.async { self.tell(.connected) }
    case .disconnected(let reason):
      handle { state, _ in state.exchange.disconnect() }
      home.async { self.tell(.disconnected(reason)) }
    case .problem(let reason): home.async { self.tell(.problem(reason)) }
    }
  }
}
