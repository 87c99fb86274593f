/// Reports posts and carries values.
final class PostTracing: Sendable {
  let reporter: DeliveryReporter?
  private let carried: CarriedValue?

  /// Nil if there is nothing to do.
  init?(onDelivery: (@Sendable (DeliveryEvent) -> Void)?, carrying carried: CarriedValue?) {
    if onDelivery == nil, carried == nil { return nil }
    reporter = onDelivery.map { DeliveryReporter($0) }
    self.carried = carried
  }

  /// The trace of a post that is being made.
  @inline(never)
  func trace(_ subject: DeliverySubject, from site: CallSite) -> PostTrace {
    PostTrace(subject, from: site, reporter: reporter, carried: carried?.capture())
  }
}

/// The part of a post that reports it and carries its value.
final class PostTrace: Sendable {
  private let subject: DeliverySubject
  private let site: CallSite

  /// Nil if the post is not reported.
  private let reporter: DeliveryReporter?

  /// Whether a callback caused the post. Its effects are then not reported either.
  private let isReporting: Bool

  private let carried: (any CarriedBinding)?
  private let delivery: UInt64
  private let moment = Moment.now

  fileprivate init(
    _ subject: DeliverySubject, from site: CallSite, reporter: DeliveryReporter?,
    carried: (any CarriedBinding)?
  ) {
    isReporting = DeliveryReporter.isReporting
    self.subject = subject
    self.site = site
    self.reporter = isReporting ? nil : reporter
    self.carried = carried
    delivery = self.reporter?.nextDelivery() ?? 0
  }

  /// The time since the post was made.
  var age: DeliveryEvent.Duration { moment.elapsed }

  /// Delivers the post now, or as a pending one. `body` calls its clients.
  func deliver(follows: Bool, _ body: (DeliveryPass?) -> Int?) -> Int? {
    guard follows else { return report(hasWaited: false, in: nil, body) }
    var called: Int?
    restore { called = report(hasWaited: true, in: nil, body) }
    return called
  }

  /// Handles a letter in a home; nil for the posting thread. `body` calls the clients.
  func handle(in home: @autoclosure () -> DeliveryEvent.Home?, _ body: (DeliveryPass?) -> Void) {
    restore { report(hasWaited: true, in: home(), body) }
  }

  /// Handles a letter in a task. `body` calls and awaits the client.
  func handle(
    in home: @autoclosure () -> DeliveryEvent.Home?, client: (any Any.Type)?,
    _ body: () async -> Void
  ) async {
    await restore {
      // A client that was removed or deallocated is not called.
      guard let client, let reporter else { return await body() }
      let pass = begin(reporter, hasWaited: true, in: home())
      let start = Moment.now
      await body()
      pass.called(client, since: start)
      pass.end()
    }
  }

  private func report<Result>(
    hasWaited: Bool, in home: @autoclosure () -> DeliveryEvent.Home?,
    _ body: (DeliveryPass?) -> Result
  ) -> Result {
    let pass = reporter.map { begin($0, hasWaited: hasWaited, in: home()) }
    defer { pass?.end() }
    return body(pass)
  }

  private func begin(
    _ reporter: DeliveryReporter, hasWaited: Bool, in home: DeliveryEvent.Home?
  ) -> DeliveryPass {
    DeliveryPass(
      .post, subject, from: site, delivery: delivery, in: home,
      waited: hasWaited ? moment.elapsed : nil, of: reporter)
  }

  private func restore(_ body: () -> Void) {
    DeliveryReporter.$isReporting.withValue(isReporting) {
      if let carried { carried.restore(body) } else { body() }
    }
  }

  private func restore(_ body: () async -> Void) async {
    await DeliveryReporter.$isReporting.withValue(isReporting) {
      if let carried { await carried.restore(body) } else { await body() }
    }
  }
}
