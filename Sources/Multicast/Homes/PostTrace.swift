/// The part of a post that reports it and carries its value.
final class PostTrace: Sendable {
  private let event: DeliveryEvent
  private let tracing: Tracing

  /// Whether a callback caused the post. Its effects are then not reported either.
  private let isReporting = Tracing.isReporting

  private let carried: (any CarriedBinding)?
  private let start = Clock.now

  fileprivate init(
    _ event: DeliveryEvent, by tracing: Tracing, carrying carried: (any CarriedBinding)?
  ) {
    self.event = event
    self.tracing = tracing
    self.carried = carried
  }

  var delivery: UInt64 { event.delivery }

  /// The nanoseconds since the post was made.
  var age: UInt64 { Clock.now - start }

  /// Delivers the post now, or as one that follows. `body` calls its clients.
  func deliver(follows: Bool, _ body: (DeliveryPass?) -> Int) -> Int {
    guard follows else { return report(waited: nil, in: nil, body) }
    return restore { report(waited: age, in: nil, body) }
  }

  /// Handles a letter in a home. `body` calls the clients.
  func handle(in place: Place, _ body: (DeliveryPass?) -> Void) {
    restore { report(waited: age, in: place, body) }
  }

  /// Handles a letter in a task, in the caller's actor. `body` calls and awaits the client.
  nonisolated(nonsending) func handle(
    in place: Place, client: (any Any.Type)?, _ body: nonisolated(nonsending) () async -> Void
  ) async {
    await Tracing.$isReporting.bind(isReporting || Tracing.isReporting) {
      // A client that was removed or deallocated is not called.
      let pass = client == nil ? nil : begin(waited: age, in: place)
      let call = client.map { DeliveryPass.Call(client: $0) }
      if let carried { await carried.restore(body) } else { await body() }
      if let call { pass?.end(call) }
      pass?.end()
    }
  }

  private func report<Result>(
    waited: UInt64?, in place: Place?, _ body: (DeliveryPass?) -> Result
  ) -> Result {
    let pass = begin(waited: waited, in: place)
    defer { pass?.end() }
    return body(pass)
  }

  /// Nil if the pass is not reported. Who handles letters in a callback reports none of them.
  private func begin(waited: UInt64?, in place: Place?) -> DeliveryPass? {
    if Tracing.isReporting || !tracing.reports { return nil }
    var event = event
    event.home = place.flatMap { $0.isPostingThread ? nil : $0.description }
    event.waited = waited
    return DeliveryPass(event, of: tracing)
  }

  private func restore<Result>(_ body: () -> Result) -> Result {
    Tracing.$isReporting.withValue(isReporting || Tracing.isReporting) {
      carried?.restore(body) ?? body()
    }
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
  func left(for place: Place, clients: Int, waiting: Int?) {
    if place.isPostingThread { return }
    report(.left(for: place.description, clients: clients, waiting: waiting))
  }
}
