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

  /// Whether a delivery that begins now is reported.
  var reportsNow: Bool { reports && !Self.isReporting }

  /// Returns the number of a new delivery. Passes have numbers of their own, so that the deliveries of a log show no gaps.
  ///
  /// Relaxed, because the number orders no other memory.
  func nextDelivery() -> UInt64 {
    lastDelivery.wrappingAdd(1, ordering: .relaxed).newValue
  }

  func nextPass() -> UInt64 { lastPass.wrappingAdd(1, ordering: .relaxed).newValue }

  func report(_ event: DeliveryEvent) {
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

  /// Whether nothing has heard the delivery so far. False in a pass that handles a letter.
  private var isUnheard: Bool

  init(_ event: DeliveryEvent, of tracing: Tracing) {
    self.event = event
    isUnheard = !event.isOfLetter
    self.tracing = tracing
    self.event.pass = tracing.nextPass()
    report(.began, at: start)
  }

  /// The delivery of this pass.
  var delivery: ReportedDelivery { ReportedDelivery(event.delivery, of: tracing) }

  /// A call of a listener that has begun.
  @usableFromInline struct Call {
    let client: any Any.Type
    fileprivate let start = Clock.now
  }

  /// Begins a call of the listener in a box. Returns nil if the listener was removed or deallocated. Call this in its home, if
  /// it has one.
  @usableFromInline @inline(never)
  func beginCall(of box: WeakBox) -> Call? { box.reportedType.map { Call(client: $0) } }

  @usableFromInline @inline(never)
  func endCall(_ call: Call) {
    count += 1
    isUnheard = false
    let now = Clock.now(notBefore: call.start)
    report(.called(call.client, nanoseconds: now - call.start), at: now)
  }

  @usableFromInline
  func endPass() {
    let now = Clock.now(notBefore: start)
    event.isUnheard = isUnheard
    report(.ended(clients: count, nanoseconds: now - start), at: now)
  }

  /// Reports that a letter was left in a home. A letter for the posting thread is only counted, because the listeners there
  /// have no home.
  func reportLeft(for home: Home, clients: Int, waiting: Int?) {
    isUnheard = false
    if home.isPostingThread { return event.leftForPostingThread += clients }
    report(.left(for: home.description, clients: clients, waiting: waiting), at: Clock.now)
  }

  private func report(_ phase: DeliveryEvent.Phase, at time: UInt64) {
    (event.phase, event.time) = (phase, time)
    tracing.report(event)
  }
}

/// The number of a delivery that is reported, with its center. Frames contain it, so that what listeners do finds its cause.
@usableFromInline struct ReportedDelivery: Sendable {
  @usableFromInline var tracing: ObjectIdentifier?
  @usableFromInline var number: UInt64 = 0

  /// A delivery that is not reported.
  @inlinable
  init() {}

  init(_ number: UInt64, of tracing: Tracing) {
    (self.number, self.tracing) = (number, ObjectIdentifier(tracing))
  }

  /// The number, if the delivery is one of a center.
  func number(in tracing: Tracing) -> UInt64? {
    self.tracing == ObjectIdentifier(tracing) ? number : nil
  }
}
