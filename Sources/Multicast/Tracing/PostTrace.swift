/// The part of a post that reports it to `onDelivery` and carries its task-local value.
///
/// A post contains one only if its center does either. It is constant, so all threads that handle letters of the post may use
/// it.
final class PostTrace: Sendable {
  /// The event that begins a pass of the post, without what is known of the pass; nil if the post is not reported.
  private let event: DeliveryEvent?

  private let tracing: Tracing

  /// Whether an `onDelivery` callback has caused the post. Then neither the post nor what it causes is reported, because each
  /// report would cause the next one.
  private let isReporting: Bool

  private let carried: (any CarriedBinding)?
  private let start: UInt64

  /// The trace of a post that is being made.
  ///
  /// - Parameter event: Nil if the post is not reported.
  init(_ event: DeliveryEvent?, by tracing: Tracing) {
    self.event = event
    self.tracing = tracing
    carried = tracing.carried?.capture()
    isReporting = Tracing.isReporting
    start = Clock.now
  }

  /// The trace of a copy of a post, which is made for a handler that observes now. It is not reported if either the post or the
  /// `observe` was caused by a callback.
  init(copying trace: PostTrace) {
    event = trace.event
    tracing = trace.tracing
    carried = trace.carried
    start = trace.start
    isReporting = trace.isReporting || Tracing.isReporting
  }

  /// The number of the delivery; 0 if it is not reported.
  var delivery: UInt64 { event?.delivery ?? 0 }

  /// The delivery, as the cause of others.
  var reported: ReportedDelivery {
    guard let event, !isReporting else { return ReportedDelivery() }
    return ReportedDelivery(event.delivery, of: tracing)
  }

  /// The nanoseconds since the post was made.
  var age: UInt64 { Clock.now(notBefore: start) - start }

  /// Reports a pass of the post, in which `body` calls listeners.
  ///
  /// - Parameters:
  ///   - waited: Whether other code may have run since the post was made. Then `body` sees the carried value. Otherwise the
  ///     posting thread calls it, which sees that value anyway.
  ///   - home: The home of the letter; nil on the posting thread.
  func tracePass<Result>(
    waited: Bool, in home: Home?, _ body: (DeliveryPass?) -> Result
  ) -> Result {
    func makePass() -> Result {
      let pass = beginPass(waited: waited, in: home)
      defer { pass?.endPass() }
      return body(pass)
    }
    if !waited { return makePass() }
    // The post decides whether it is reported, and not the stack: a callback that posts may handle letters that it did not
    // cause.
    return Tracing.$isReporting.withValue(isReporting) { carried?.restore(makePass) ?? makePass() }
  }

  /// Reports the pass of a letter in a task, in the caller's actor. `body` calls and awaits the client, and returns
  /// whether it has called one.
  ///
  /// - Parameter client: The client's type; nil if it was removed or deallocated. Then `body` calls no client, and nothing is
  ///   reported.
  nonisolated(nonsending) func traceAwaiting(
    in home: Home, client: (any Any.Type)?,
    _ body: nonisolated(nonsending) () async -> Bool
  ) async {
    await Tracing.$isReporting.bind(isReporting) {
      if let carried {
        await carried.restore { await makePass(in: home, client: client, body) }
      } else {
        await makePass(in: home, client: client, body)
      }
    }
  }

  nonisolated(nonsending) private func makePass(
    in home: Home, client: (any Any.Type)?,
    _ body: nonisolated(nonsending) () async -> Bool
  ) async {
    let pass = client == nil ? nil : beginPass(waited: true, in: home)
    let call = client.map { DeliveryPass.Call(client: $0) }
    let wasCalled = await body()
    if wasCalled, let call { pass?.endCall(call) }
    pass?.endPass()
  }

  /// Begins a pass. Returns nil if it is not reported, because a callback has caused it or because there is no callback.
  private func beginPass(waited: Bool, in home: Home?) -> DeliveryPass? {
    guard var event, !Tracing.isReporting else { return nil }
    event.home = home.flatMap { $0.isPostingThread ? nil : $0.description }
    event.waited = waited ? age : nil
    event.isOfLetter = home != nil
    event.isInTask = home?.isTask ?? false
    return DeliveryPass(event, of: tracing)
  }
}
