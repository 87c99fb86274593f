/// What a center does in addition to its calls: it reports them to `onDelivery`, and carries a task-local value to them.
@usableFromInline
final class Tracing: Sendable {
  /// Whether an `onDelivery` callback, of any center, has caused the code that runs. Deliveries of such code are not reported.
  ///
  /// This is a task-local value, so that tasks that a callback starts inherit it. Posts carry it to their listeners: see
  /// ``PostTrace``.
  @TaskLocal static var isReporting = false

  private let onDelivery: (@Sendable (DeliveryEvent) -> Void)?
  let carried: CarriedValue?
  private let lastDelivery = Atomic<UInt64>(0)
  private let lastPass = Atomic<UInt64>(0)

  /// Returns nil if there is neither a callback nor a value to carry.
  init?(onDelivery: (@Sendable (DeliveryEvent) -> Void)?, carrying carried: CarriedValue?) {
    if onDelivery == nil, carried == nil { return nil }
    self.onDelivery = onDelivery
    self.carried = carried
  }

  /// Whether there is a callback.
  var reports: Bool { onDelivery != nil }

  /// Begins the only pass of a `notify`. Returns nil if it is not reported. Call this only if ``reports`` is true.
  @usableFromInline
  func beginPass(_ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite)
    -> DeliveryPass?
  {
    if Self.isReporting { return nil }
    return DeliveryPass(DeliveryEvent(way, subject, from: site, delivery: nextDelivery()), of: self)
  }

  /// Reports that a delivery was refused.
  func refuse(_ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite) {
    if Self.isReporting || !reports { return }
    var event = DeliveryEvent(way, subject, from: site, delivery: nextDelivery())
    (event.pass, event.phase) = (nextPass(), .refused)
    report(event)
  }

  /// Returns the number of a new delivery. Passes have numbers of their own, so that the deliveries of a log show no gaps.
  ///
  /// Relaxed, because the number orders no other memory.
  func nextDelivery() -> UInt64 {
    lastDelivery.wrappingAdd(1, ordering: .relaxed).newValue
  }

  fileprivate func nextPass() -> UInt64 { lastPass.wrappingAdd(1, ordering: .relaxed).newValue }

  fileprivate func report(_ event: DeliveryEvent) {
    Self.$isReporting.withValue(true) { onDelivery?(event) }
  }
}

/// A pass over listeners that is reported.
///
/// `@unchecked`, because it has variables. One thread or task at a time makes a pass, and no other refers to it.
@usableFromInline
final class DeliveryPass: @unchecked Sendable {
  /// The last event of this pass, in which the next one only changes the phase.
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

  /// A call of a listener that has begun.
  @usableFromInline struct Call {
    let client: any Any.Type
    fileprivate let start = Clock.now
  }

  /// Begins a call of the listener in a box. Returns nil if the listener was removed or deallocated. Call this in its home, if
  /// it has one.
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
