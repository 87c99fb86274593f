/// What a center does beside its calls: it reports them to `onDelivery`, and carries a value to them.
@usableFromInline
final class Tracing: Sendable {
  /// Whether code runs that the callback of any center has caused. It is not reported.
  ///
  /// A task-local value, so tasks that the callback starts inherit it. Its posts carry it.
  @TaskLocal static var isReporting = false

  private let onDelivery: (@Sendable (DeliveryEvent) -> Void)?
  let carried: CarriedValue?
  private let lastDelivery = Atomic<UInt64>(0)
  private let lastPass = Atomic<UInt64>(0)

  /// Nil if there is nothing to do.
  init?(onDelivery: (@Sendable (DeliveryEvent) -> Void)?, carrying carried: CarriedValue?) {
    if onDelivery == nil, carried == nil { return nil }
    self.onDelivery = onDelivery
    self.carried = carried
  }

  /// Whether there is a callback.
  var reports: Bool { onDelivery != nil }

  /// Begins the only pass of a `notify`; nil if it is not reported.
  @usableFromInline
  func beginPass(_ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite)
    -> DeliveryPass?
  {
    if Self.isReporting { return nil }
    return DeliveryPass(DeliveryEvent(way, subject, from: site, delivery: nextDelivery()), of: self)
  }

  func refuse(_ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite) {
    if Self.isReporting || !reports { return }
    var event = DeliveryEvent(way, subject, from: site, delivery: nextDelivery())
    (event.pass, event.phase) = (nextPass(), .refused)
    report(event)
  }

  /// The number of a delivery. Passes have numbers of their own, so a log shows no gaps.
  func nextDelivery() -> UInt64 {
    lastDelivery.wrappingAdd(1, ordering: .relaxed).newValue
  }

  fileprivate func nextPass() -> UInt64 { lastPass.wrappingAdd(1, ordering: .relaxed).newValue }

  fileprivate func report(_ event: DeliveryEvent) {
    Self.$isReporting.withValue(true) { onDelivery?(event) }
  }
}

/// A reported pass over clients.
///
/// Unchecked, because one thread or task at a time makes a pass.
@usableFromInline
final class DeliveryPass: @unchecked Sendable {
  /// The last event of this pass.
  private var event: DeliveryEvent
  private let tracing: Tracing
  private let start = Clock.now
  private var count = 0

  init(_ event: DeliveryEvent, of tracing: Tracing) {
    self.event = event
    self.tracing = tracing
    self.event.pass = tracing.nextPass()
    report(.began)
  }

  /// A call that has begun.
  @usableFromInline struct Call {
    let client: any Any.Type
    fileprivate let start = Clock.now
  }

  /// Begins a call of the client in a box; nil if it was deallocated.
  @usableFromInline
  func beginCall(of box: WeakBox) -> Call? { box.reportedType.map { Call(client: $0) } }

  @usableFromInline
  func endCall(_ call: Call) {
    count += 1
    report(.called(call.client, nanoseconds: Clock.now - call.start))
  }

  @usableFromInline
  func endPass() { report(.ended(clients: count, nanoseconds: Clock.now - start)) }

  func report(_ phase: DeliveryEvent.Phase) {
    event.phase = phase
    tracing.report(event)
  }
}
