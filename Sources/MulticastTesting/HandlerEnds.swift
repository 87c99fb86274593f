import Multicast

extension MulticastCenter {
  /// Ends all handlers of topics, each in its home. A home may never run again, such as a suspended queue, or an actor whose event
  /// loop the test has run. The handlers of such a home stay.
  ///
  /// - Parameter seconds: The time that this waits for all homes together. It waits longer if the machine is too busy to run tasks.
  ///   A cancellation ends the wait, too.
  /// - Returns: A message for each owner that only its own handler kept alive, and the names of the homes that did not run.
  func endHandlers(
    within seconds: Double
  ) async -> (leaks: [String], homesThatDidNotRun: [String]) {
    let ending = Task { await endHandlersUntilCancelled() }
    let limit = Task.detached {
      // Many sleeps, because each one ends only when a thread runs this task. In a large suite, all threads for tasks may be
      // blocked or busy for longer than the limit. One sleep would end then, although no home had a chance to run.
      for _ in 0..<100 { try await Task.sleep(nanoseconds: UInt64(min(seconds, 1e9) * 1e7)) }
      ending.cancel()
    }
    defer { limit.cancel() }
    return await withTaskCancellationHandler {
      await ending.value
    } onCancel: {
      ending.cancel()
    }
  }

  private func endHandlersUntilCancelled() async -> (
    leaks: [String], homesThatDidNotRun: [String]
  ) {
    let handlers = handlersToEnd.enumerated().map { (index: $0, home: $1.home, end: $1.end) }
    var remaining = Dictionary(grouping: handlers) { ObjectIdentifier($0.home) }
    var leaks: [(index: Int, text: String)] = []
    await withTaskGroup(of: Home?.self) { homes in
      for home in remaining.values.map({ $0[0].home }) {
        homes.addTask { await home.runUnlessCancelled { home } }
      }
      // One home after the other: if handlers in two homes keep an owner alive, only the last one to end may report it.
      for await case let home? in homes {
        let handlers = remaining[ObjectIdentifier(home), default: []]
        let found = await home.runUnlessCancelled {
          handlers.compactMap { handler in handler.end().map { (index: handler.index, text: $0) } }
        }
        guard let found else { continue }
        leaks += found
        remaining[ObjectIdentifier(home)] = nil
      }
    }
    // In the order of registration.
    return (
      leaks.sorted { $0.index < $1.index }.map(\.text),
      remaining.values.sorted { $0[0].index < $1[0].index }.map { "\($0[0].home)" }
    )
  }
}

extension Home {
  /// Runs `body` in this home, unless the task is cancelled before that. Then it returns nil, and `body` does not run, even if the
  /// home runs later.
  fileprivate func runUnlessCancelled<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result? {
    let waiting = Locked<CheckedContinuation<Result?, Never>?>(nil)
    // Either the home or a cancellation takes the continuation, whichever comes first.
    let take = { @Sendable in waiting.withLock { $0.take() } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0 = continuation }
        // A task of its own, because it stays behind if the home never runs. If the wait has ended, it does not call `body`.
        Task.detached { await self.run { take()?.resume(returning: body()) } }
        // A cancellation that came before has found no continuation.
        if Task.isCancelled { take()?.resume(returning: nil) }
      }
    } onCancel: {
      take()?.resume(returning: nil)
    }
  }
}
