import Multicast
import Testing

/// Records the deliveries of a center: which protocol or topic, from where, and to how many.
///
/// <!-- example: in Testing -->
/// ```swift
/// let deliveries = DeliveryRecorder(center)
/// MailService(center: center).fetch()  // posts from a task of its own
/// #expect(try await deliveries.next(.userLogin).clients == 1)
/// ```
///
/// The center must be one that can be recorded: that of `.ownCenter`, of ``Interleavings``, or of
/// `MulticastCenter.recordable()`. A delivery to an empty list is not reported, and not recorded.
public struct DeliveryRecorder: Sendable {
  /// A call of `notify`, `map`, `post` and their relatives.
  public struct Delivery: Sendable {
    /// The method that delivers.
    public let way: DeliveryEvent.Way

    /// The name of the listener protocol or the topic.
    public let key: String

    /// The place in the source that notified or posted.
    public let site: CallSite

    /// The number of clients or handlers that were called, and of those for whom a letter was left.
    public let clients: Int

    /// Whether it was refused because of a loop. It has called nobody then.
    public let isRefused: Bool

    /// Numbers the deliveries of a center in the order in which they were made.
    let number: UInt64

    fileprivate let event: DeliveryEvent

    init(_ event: DeliveryEvent, clients: Int) {
      way = event.way
      key = event.key
      site = event.site
      self.clients = clients
      isRefused = if case .refused = event.phase { true } else { false }
      number = event.delivery
      self.event = event
    }
  }

  private let recording = Recording<Delivery>()

  /// Begins to record.
  ///
  /// - Parameters:
  ///   - center: A center that can be recorded. Another one fails the test.
  ///   - isExhaustive: Whether a delivery that nobody has taken with ``next()`` fails the test at its end. The test
  ///     needs the trait `.ownCenter`.
  ///   - sourceLocation: The place that a failure names.
  public init(
    _ center: MulticastCenter = .current, exhaustive isExhaustive: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    if let hub = DeliveryHub.of(center) {
      hub.add(recording)
    } else {
      reportMisuse(
        """
        The deliveries of this center cannot be recorded. Take that of a test with .ownCenter, or make it with \
        MulticastCenter.recordable().
        """, sourceLocation)
    }
    if isExhaustive { TestScope.check(recording, named: "deliveries", sourceLocation) }
  }

  /// All deliveries that were recorded, those that were taken included, in the order in which they were made.
  ///
  /// That is not the order in which they were recorded. A delivery is recorded when the call that made it has called its
  /// clients and left its letters. So one that was made inside of another stands behind it, and is recorded before it.
  public var all: [Delivery] { recording.all }

  /// Takes the first delivery that nobody has taken. Waits until there is one.
  ///
  /// - Throws: ``NothingRecorded`` if the task is cancelled meanwhile, as by a test's time limit.
  public func next() async throws -> Delivery {
    try await next("a delivery") { _ in true }
  }

  /// Takes the first delivery to a listener protocol that nobody has taken. Waits until there is one.
  ///
  /// - Throws: ``NothingRecorded`` if the task is cancelled meanwhile, as by a test's time limit.
  public func next<Listener>(_ listener: Listener.Type) async throws -> Delivery {
    try await next("a delivery to \(listener)") { $0.event.isDelivery(to: listener) }
  }

  /// Takes the first delivery to a topic that nobody has taken. Waits until there is one.
  ///
  /// - Throws: ``NothingRecorded`` if the task is cancelled meanwhile, as by a test's time limit.
  public func next<Message>(_ topic: Topic<Message>) async throws -> Delivery {
    try await next("a delivery to \(topic)") { $0.event.isDelivery(to: topic) }
  }

  private func next(
    _ wanted: String, where matches: @escaping @Sendable (Delivery) -> Bool
  ) async throws -> Delivery {
    guard let delivery = await recording.next(where: matches) else {
      throw NothingRecorded(wanted, in: recording)
    }
    return delivery
  }
}

extension DeliveryRecorder.Delivery: CustomStringConvertible {
  /// The delivery in one line.
  public var description: String {
    "\(way) \(key), at \(site), \(isRefused ? "refused" : "clients: \(clients)")"
  }
}
