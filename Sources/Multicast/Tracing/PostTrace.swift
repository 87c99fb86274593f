/// The part of a post that reports it and carries its value.
final class PostTrace: Sendable {
  private let event: DeliveryEvent
  private let tracing: Tracing

  /// Whether a callback has caused the post. Then neither the post nor its effects are reported.
  private let isReporting: Bool

  private let carried: (any CarriedBinding)?
  private let start: UInt64

  fileprivate init(
    _ event: DeliveryEvent, by tracing: Tracing, carrying carried: (any CarriedBinding)?
  ) {
    self.event = event
    self.tracing = tracing
    self.carried = carried
    isReporting = Tracing.isReporting
    start = Clock.now
  }

  /// The trace of a copy, which is for a handler that observes now.
  init(copying trace: PostTrace) {
    event = trace.event
    tracing = trace.tracing
    carried = trace.carried
    start = trace.start
    isReporting = trace.isReporting || Tracing.isReporting
  }

  var delivery: UInt64 { event.delivery }

  /// The nanoseconds since the post was made.
  var age: UInt64 { Clock.now - start }

  /// Reports a pass of the post. `body` calls clients.
  ///
  /// - Parameters:
  ///   - waited: Whether other code may have run since the post was made. Then `body` sees the carried value.
  ///   - home: The home of a letter; nil where the post was made.
  func tracePass<Result>(
    waited: Bool, in home: Home?, _ body: (DeliveryPass?) -> Result
  ) -> Result {
    func makePass() -> Result {
      let pass = beginPass(waited: waited ? age : nil, in: home)
      defer { pass?.endPass() }
      return body(pass)
    }
    if !waited { return makePass() }
    // The post decides, and not the stack: a callback that posts may find letters of others at home.
    return Tracing.$isReporting.withValue(isReporting) { carried?.restore(makePass) ?? makePass() }
  }

  /// Reports a letter in a task, in the caller's actor. `body` calls and awaits the client.
  nonisolated(nonsending) func traceAwaiting(
    in home: Home, client: (any Any.Type)?,
    _ body: nonisolated(nonsending) () async -> CallOutcome
  ) async {
    await Tracing.$isReporting.bind(isReporting) {
      // A client that was removed or deallocated is not called.
      let pass = client == nil ? nil : beginPass(waited: age, in: home)
      let call = client.map { DeliveryPass.Call(client: $0) }
      var outcome = CallOutcome.skipped
      if let carried {
        await carried.restore { outcome = await body() }
      } else {
        outcome = await body()
      }
      if let call, case .called = outcome { pass?.endCall(call) }
      pass?.endPass()
    }
  }

  /// Nil if the pass is not reported, because a callback has caused it.
  private func beginPass(waited: UInt64?, in home: Home?) -> DeliveryPass? {
    if Tracing.isReporting || !tracing.reports { return nil }
    var event = event
    event.home = home.flatMap { $0.isPostingThread ? nil : $0.description }
    event.waited = waited
    return DeliveryPass(event, of: tracing)
  }
}

extension Tracing {
  /// The trace of a post that is being made.
  @inline(never)
  func trace(_ subject: DeliverySubject, from site: CallSite) -> PostTrace {
    let isReported = reports && !Self.isReporting
    return PostTrace(
      DeliveryEvent(.post, subject, from: site, delivery: isReported ? nextDelivery() : 0),
      by: self, carrying: carried?.capture())
  }
}

extension DeliveryPass {
  /// Reports a letter. Nothing is left on the posting thread, which is no home.
  func reportLeft(for home: Home, clients: Int, waiting: Int?) {
    if home.isPostingThread { return }
    report(.left(for: home.description, clients: clients, waiting: waiting))
  }
}
