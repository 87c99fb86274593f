import Multicast
import Testing

/// Records the deliveries of a center: the calls of `notify`, `map` and `post`, in the order in which they begin. A post
/// that follows another one begins after it. A recorder records until its center is deallocated.
public struct DeliveryRecorder: Sendable {
  /// A call of `notify`, `map`, `post` and their relatives.
  public struct Delivery: Sendable {
    /// The method that made the delivery.
    public let way: DeliveryEvent.Way

    /// The name of the listener protocol or the topic.
    public let key: String

    /// The call site of the `notify` or `post`.
    public let site: CallSite

    /// The number of clients or handlers that were called or will be, a ``TopicRecorder`` included.
    ///
    /// A listener with its home elsewhere counts until that home has noticed that it is deallocated. To check that
    /// a post reaches no listener, post once and await `settled()` before.
    public let clients: Int

    /// Whether it was refused because of a loop. Then it has called no client.
    public let isRefused: Bool

    fileprivate let event: DeliveryEvent

    init(_ event: DeliveryEvent, clients: Int) {
      way = event.way
      key = event.key
      site = event.site
      self.clients = clients
      isRefused = if case .refused = event.phase { true } else { false }
      self.event = event
    }
  }

  private let recording = Recording<Delivery>()

  /// Begins to record.
  ///
  /// - Parameters:
  ///   - center: A center that can be recorded. Another one fails the test. Outside a test of Swift Testing, as
  ///     in XCTest, the program stops.
  ///   - isExhaustive: Whether a delivery that is not taken with ``next()`` fails the test at its end. Use it in
  ///     a test with `.ownCenter`, or in the body of an exploration. Elsewhere, it fails the test. Outside
  ///     Swift Testing, and so in a detached task or on a queue, it stops the program.
  ///   - sourceLocation: The source location that a failure names.
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
    if isExhaustive { TestScope.check(recording, of: center, named: "deliveries", sourceLocation) }
  }

  /// All recorded deliveries, even those that were taken, in the order in which they began.
  ///
  /// A delivery is recorded when it has called its clients and left its letters. A nested delivery comes after
  /// its outer one in this array, although it is recorded first, unless the outer one began before the recorder
  /// was made.
  ///
  /// - Complexity: O(*n*) for *n* recorded deliveries.
  public var all: [Delivery] { recording.all }

  /// Takes the first delivery that was not taken, and waits until there is one.
  ///
  /// Deliveries are taken in the order in which they began. If an earlier one is still calling its clients,
  /// this waits for its end, so an outer delivery comes before those that are nested in it. It does not wait for
  /// a `notify(awaiting:)` or `map(awaiting:)`, which is taken after it has ended.
  ///
  /// - Returns: The delivery.
  /// - Throws: ``NothingRecorded`` if the task is cancelled in the meantime, for example by a test's time
  ///   limit.
  /// - Complexity: O(*n*) for *n* deliveries since the oldest one that was not taken.
  nonisolated(nonsending) public func next() async throws -> Delivery {
    try await recording.next("a delivery")
  }

  /// Takes the first delivery to a listener protocol that was not taken, and waits until there is one, as
  /// ``next()`` does. It does not wait for the end of earlier deliveries of anything else.
  ///
  /// - Parameter listener: The listener protocol.
  /// - Returns: The delivery.
  /// - Throws: ``NothingRecorded`` if the task is cancelled in the meantime, for example by a test's time
  ///   limit.
  nonisolated(nonsending) public func next<Listener>(
    _ listener: Listener.Type
  ) async throws -> Delivery {
    try await recording.next("a delivery to \(Listener.self)") {
      $0.event.isDelivery(to: Listener.self)
    }
  }

  /// Takes the first delivery to a topic that was not taken, and waits until there is one, as ``next()`` does. It
  /// does not wait for the end of earlier deliveries of anything else.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: The delivery.
  /// - Throws: ``NothingRecorded`` if the task is cancelled in the meantime, for example by a test's time
  ///   limit.
  nonisolated(nonsending) public func next<Message>(
    _ topic: Topic<Message>
  ) async throws -> Delivery {
    try await recording.next("a delivery to \(topic)") { $0.event.isDelivery(to: topic) }
  }
}

extension DeliveryRecorder.Delivery: CustomStringConvertible {
  /// The delivery in one line.
  public var description: String {
    "\(way) \(key), at \(site), \(isRefused ? "refused" : "clients: \(clients)")"
  }
}
