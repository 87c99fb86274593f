/// Calls a center's `onDelivery` with events.
@usableFromInline
final class DeliveryReporter: Sendable {
  /// Whether code runs that the callback of any center has caused.
  ///
  /// A task-local value, so tasks that the callback starts inherit it. Its posts carry it.
  @TaskLocal static var isReporting = false

  private let onDelivery: @Sendable (DeliveryEvent) -> Void
  private let lastDelivery = Atomic<UInt64>(0)
  private let lastPass = Atomic<UInt64>(0)

  init(_ onDelivery: @escaping @Sendable (DeliveryEvent) -> Void) {
    self.onDelivery = onDelivery
  }

  /// The number of a delivery. Passes have numbers of their own, so a log shows no gaps.
  func nextDelivery() -> UInt64 { lastDelivery.wrappingAdd(1, ordering: .relaxed).newValue }

  fileprivate func nextPass() -> UInt64 { lastPass.wrappingAdd(1, ordering: .relaxed).newValue }

  func report(_ event: DeliveryEvent) {
    Self.$isReporting.withValue(true) { onDelivery(event) }
  }

  /// Begins the only pass of a `notify`; nil if the pass is not reported.
  func begin(
    _ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite
  ) -> DeliveryPass? {
    if Self.isReporting { return nil }
    return DeliveryPass(way, subject, from: site, delivery: nextDelivery(), of: self)
  }

  @usableFromInline
  func refuse(_ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite) {
    if Self.isReporting { return }
    report(
      DeliveryEvent(
        way: way, site: site, delivery: nextDelivery(), pass: nextPass(), home: nil, waited: nil,
        phase: .refused, subject: subject))
  }
}

/// The protocol or topic of a delivery. Its name is made when it is read.
@usableFromInline
enum DeliverySubject: Sendable, CustomStringConvertible {
  case listener(any Any.Type)
  case topic(name: String, keepsLatest: Bool, message: any Any.Type)

  @usableFromInline
  var description: String {
    switch self {
    case .listener(let type): String(describing: type)
    case .topic(let name, let keepsLatest, let message):
      Self.topic(name, keepsLatest: keepsLatest, message: String(describing: message))
    }
  }

  /// A topic as source code.
  static func topic(_ name: String, keepsLatest: Bool, message: String) -> String {
    let arguments =
      (name.isEmpty ? [] : [String(reflecting: name)]) + (keepsLatest ? ["keepsLatest: true"] : [])
    return "Topic<\(message)>(\(arguments.joined(separator: ", ")))"
  }
}

/// A reported pass over clients.
final class DeliveryPass: Sendable {
  private let way: DeliveryEvent.Way
  private let subject: DeliverySubject
  private let site: CallSite
  private let delivery: UInt64
  private let number: UInt64
  private let home: DeliveryEvent.Home?
  private let waited: DeliveryEvent.Duration?
  private let reporter: DeliveryReporter
  private let start = Moment.now
  private let count = Atomic<Int>(0)

  init(
    _ way: DeliveryEvent.Way, _ subject: DeliverySubject, from site: CallSite, delivery: UInt64,
    in home: DeliveryEvent.Home? = nil, waited: DeliveryEvent.Duration? = nil,
    of reporter: DeliveryReporter
  ) {
    self.way = way
    self.subject = subject
    self.site = site
    self.delivery = delivery
    number = reporter.nextPass()
    self.home = home
    self.waited = waited
    self.reporter = reporter
    report(.began)
  }

  func called(_ client: any Any.Type, since start: Moment) {
    count.wrappingAdd(1, ordering: .relaxed)
    report(.called(client, start.elapsed))
  }

  /// Reports a letter. Nothing is left on the posting thread, which is no home.
  func left(for home: DeliveryEvent.Home?, clients: Int) {
    if let home { report(.left(for: home, clients: clients)) }
  }

  func end() {
    report(.ended(clients: count.load(ordering: .relaxed), start.elapsed))
  }

  private func report(_ phase: DeliveryEvent.Phase) {
    reporter.report(
      DeliveryEvent(
        way: way, site: site, delivery: delivery, pass: number, home: home, waited: waited,
        phase: phase, subject: subject))
  }
}

extension DeliveryPass? {
  /// Calls the client in a box, and reports the call.
  func call(_ box: WeakBox, _ body: (WeakBox) -> CallOutcome) -> CallOutcome {
    guard let self, let type = box.reportedType else { return body(box) }
    let start = Moment.now
    let outcome = body(box)
    if case .called = outcome { self.called(type, since: start) }
    return outcome
  }
}

extension WeakBox {
  /// The type that reports name: the client's, or the one that an owner represents. Nil if the client was
  /// deallocated.
  var reportedType: (any Any.Type)? {
    load().map { client in (client as? any Surrogate)?.shownType ?? type(of: client) }
  }
}

/// An owner that represents one of the user's objects.
protocol Surrogate {
  var shownType: any Any.Type { get }
}
