// What a center that is traced reports when a delivery begins, with the number of the delivery that caused it.
//
// The frames of reported deliveries contain their numbers. A center without `onDelivery` never reads them, and
// writes only empty ones.

extension Tracing {
  /// The number of this center's delivery that is calling this code; nil if there is none.
  private var cause: UInt64? {
    var cause: UInt64?
    let isWholeStack = unsafe DeliveryChain().forEachLeading { frame in
      unsafe cause = cause ?? frame.pointee.reported.number(in: self)
    }
    if cause != nil || !isWholeStack { return cause }
    AwaitedNotify.forEachOfTask { cause = unsafe cause ?? $0.reported.number(in: self) }
    return cause ?? AwaitedCall.current?.reported.number(in: self)
  }

  /// The event with which a delivery begins. Call this only if ``reportsNow`` is true.
  private func event(
    _ way: DeliveryEvent.Way, _ list: ClientList, from site: CallSite
  ) -> DeliveryEvent {
    DeliveryEvent(way, list.subject, from: site, delivery: nextDelivery(), cause: cause)
  }

  /// Begins the only pass of a `notify`, whose frame is the innermost one of this thread, or of this task if it awaits. Returns
  /// nil if it is not reported.
  @usableFromInline
  func beginPass(_ way: DeliveryEvent.Way, _ list: ClientList, from site: CallSite)
    -> DeliveryPass?
  {
    guard reportsNow else { return nil }
    let pass = DeliveryPass(event(way, list, from: site), of: self)
    if way == .awaiting {
      AwaitedNotify.note(pass.delivery)
    } else {
      unsafe DeliveryChain().innermost.pointee?.pointee.reported = pass.delivery
    }
    return pass
  }

  /// Returns the trace of a post that is being made.
  @inline(never)
  func makeTrace(of list: ClientList, from site: CallSite) -> PostTrace {
    PostTrace(reportsNow ? event(.post, list, from: site) : nil, by: self)
  }

  /// Reports a delivery that calls no listener.
  @inline(never)
  func reportUnheard(_ way: DeliveryEvent.Way, _ list: ClientList, from site: CallSite) {
    if reportsNow { DeliveryPass(event(way, list, from: site), of: self).endPass() }
  }

  /// Reports that a delivery was refused.
  @inline(never)
  func reportRefusal(_ way: DeliveryEvent.Way, _ list: ClientList, from site: CallSite) {
    guard reportsNow else { return }
    var event = event(way, list, from: site)
    (event.pass, event.phase, event.time) = (nextPass(), .refused, Clock.now)
    report(event)
  }
}
