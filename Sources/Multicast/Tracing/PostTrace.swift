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
  private let moment = ContinuousClock.now

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

  /// Delivers the post now, or as a pending one. `body` calls its clients.
  func deliver(follows: Bool, _ body: (DeliveryPass?) -> Int) -> Int {
    guard follows else { return report(waited: nil, in: nil, body) }
    var called = 0
    restore { called = report(waited: .now - moment, in: nil, body) }
    return called
  }

  /// Handles a letter or a client's queue. `body` calls the clients.
  fileprivate func handle(in home: Home?, _ body: (DeliveryPass?) -> Void) {
    restore { report(waited: .now - moment, in: home, body) }
  }

  /// Handles a letter in a lane. `body` calls and awaits the client.
  fileprivate func handle(
    in lane: Home, client: (any Any.Type)?, _ body: () async -> Void
  ) async {
    await restore {
      // A client that was removed or deallocated is not called.
      guard let client, let reporter else { return await body() }
      let pass = begin(reporter, waited: .now - moment, in: lane)
      let start = ContinuousClock.now
      await body()
      pass.called(client, since: start)
      pass.end()
    }
  }

  private func report<Result>(
    waited: Duration?, in home: Home?, _ body: (DeliveryPass?) -> Result
  ) -> Result {
    let pass = reporter.map { begin($0, waited: waited, in: home) }
    defer { pass?.end() }
    return body(pass)
  }

  private func begin(
    _ reporter: DeliveryReporter, waited: Duration?, in home: Home?
  ) -> DeliveryPass {
    DeliveryPass(
      .post, subject, from: site, delivery: delivery,
      in: home.map { DeliveryEvent.Home(home: $0) }, waited: waited, of: reporter)
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

extension Post {
  /// Handles the post: runs `body`, which calls clients with its argument.
  func handle(
    in home: Home?, on occasion: CallOccasion, _ body: ((WeakBox) -> CallOutcome) -> Void
  ) {
    guard let trace else { return body { box in call(box, on: occasion) } }
    trace.handle(in: home) { pass in
      body { box in pass.call(box) { box in call(box, on: occasion) } }
    }
  }

  /// Calls and awaits a client in a lane, if it is registered and alive.
  func handle(in lane: Home, _ registration: Registration, letter: UInt64) async {
    guard let trace else { return await callAwaiting(registration, letter: letter) }
    await trace.handle(in: lane, client: reportedType(of: registration)) {
      await callAwaiting(registration, letter: letter)
    }
  }

  private func reportedType(of registration: Registration) -> (any Any.Type)? {
    guard var walk = list.beginWalk(at: registration) else { return nil }
    return walk.next()?.reportedType
  }
}
