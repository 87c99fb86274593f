import Dispatch
import Synchronization

/// A carrier between the carriages of one process: for tests, and where there is one process only.
public final class InMemoryCarrier: Carrier {
  /// What connects carriers of memory with each other.
  public final class Hub: Sendable {
    fileprivate let carriers = Mutex<[ObjectIdentifier: InMemoryCarrier]>([:])

    /// Creates a hub without carriers.
    public init() {}
  }

  /// The size in bytes that was given.
  public let payloadLimit: Int
  private let hub: Hub
  private let echoes: Bool
  private let queue = DispatchQueue(label: "InMemoryCarrier")
  private let receive = Mutex<(@Sendable (CarrierEvent) -> Void)?>(nil)

  /// Creates a carrier that is connected with all others of its hub once it is open.
  ///
  /// - Parameter echoes: Whether it gets what it publishes, as with some engines.
  public init(hub: Hub = Hub(), payloadLimit: Int = 1 << 20, echoes: Bool = false) {
    self.hub = hub
    self.payloadLimit = payloadLimit
    self.echoes = echoes
  }

  /// Connects.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) async {
    self.receive.withLock { $0 = receive }
    reconnect()
  }

  /// Leaves the payload with all others that are connected, and drops it if this one is not.
  public func publish(_ payload: [UInt8]) throws(CarrierError) {
    guard payload.count <= payloadLimit else {
      throw .tooLarge(bytes: payload.count, limit: payloadLimit)
    }
    // Under the lock, so that everybody gets the payloads in one order.
    hub.carriers.withLock { carriers in
      guard carriers[ObjectIdentifier(self)] != nil else { return }
      for other in carriers.values where other !== self || echoes { other.tell(.payload(payload)) }
    }
  }

  /// Ends, after what had come in.
  public func close() async {
    disconnect()
    await withCheckedContinuation { end in queue.async { end.resume() } }
    receive.withLock { $0 = nil }
  }

  /// Loses the connection: what is published until `reconnect` is lost.
  public func disconnect() {
    hub.carriers.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(self)) }
    tell(.disconnected("The connection was cut."))
  }

  /// Connects again.
  public func reconnect() {
    hub.carriers.withLock { $0[ObjectIdentifier(self)] = self }
    tell(.connected)
  }

  /// Returns when all that was published before has reached the others.
  public func flush() async {
    for carrier in hub.carriers.withLock({ Array($0.values) }) {
      await withCheckedContinuation { end in carrier.queue.async { end.resume() } }
    }
  }

  private func tell(_ event: CarrierEvent) {
    queue.async { self.receive.withLock { $0 }?(event) }
  }
}
