import Dispatch
import NIOConcurrencyHelpers
import NIOCore

/// A carrier between the carriages of one process: for tests, and where there is one process only.
public final class InMemoryCarrier: Carrier {
  /// What connects carriers of memory with each other.
  public final class Hub: Sendable {
    fileprivate let carriers = NIOLockedValueBox<[ObjectIdentifier: InMemoryCarrier]>([:])

    /// Creates a hub without carriers.
    public init() {}
  }

  private struct State {
    var subjects: Set<String> = []
    var receive: (@Sendable (CarrierEvent) -> Void)?
    var delays: [ObjectIdentifier: DispatchTimeInterval] = [:]
  }

  /// The size in bytes that was given.
  public let payloadLimit: Int
  private let hub: Hub
  private let echoes: Bool
  private let queue = DispatchQueue(label: "InMemoryCarrier")
  private let state = NIOLockedValueBox(State())

  /// Creates a carrier that is connected with all others of its hub once it is open.
  ///
  /// - Parameter echoes: Whether it receives what it publishes, as with some engines.
  public init(hub: Hub = Hub(), payloadLimit: Int = 1 << 20, echoes: Bool = false) {
    self.hub = hub
    self.payloadLimit = payloadLimit
    self.echoes = echoes
  }

  /// Connects.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) {
    state.withLockedValue { $0.receive = receive }
    reconnect()
  }

  /// Receives the payloads of a subject.
  public func subscribe(to subject: String) {
    state.withLockedValue { _ = $0.subjects.insert(subject) }
  }

  /// Receives the payloads of a subject no longer.
  public func unsubscribe(from subject: String) {
    state.withLockedValue { _ = $0.subjects.remove(subject) }
  }

  /// Leaves the payload with all others that are connected and subscribe to the subject.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    guard payload.readableBytes <= payloadLimit else {
      throw .tooLarge(bytes: payload.readableBytes, limit: payloadLimit)
    }
    // Under the lock, so that everybody receives the payloads in one order.
    let isConnected = hub.carriers.withLockedValue { carriers in
      guard carriers[ObjectIdentifier(self)] != nil else { return false }
      for other in carriers.values where other !== self || echoes {
        let (hears, delay) = other.state.withLockedValue { state in
          (state.subjects.contains(subject), state.delays[ObjectIdentifier(self)])
        }
        if hears { other.tell(.payload(payload), after: delay) }
      }
      return true
    }
    guard isConnected else { throw .disconnected }
  }

  /// Ends, after what had come in.
  public func close() async {
    disconnect()
    await withCheckedContinuation { end in queue.async { end.resume() } }
    state.withLockedValue { $0.receive = nil }
  }

  /// Loses the connection.
  public func disconnect() {
    hub.carriers.withLockedValue { _ = $0.removeValue(forKey: ObjectIdentifier(self)) }
    tell(.disconnected("The connection was cut."))
  }

  /// Connects again.
  public func reconnect() {
    hub.carriers.withLockedValue { $0[ObjectIdentifier(self)] = self }
    tell(.connected)
  }

  /// Lets what another carrier publishes arrive later, as over a slower link.
  public func delay(_ time: DispatchTimeInterval, from other: InMemoryCarrier) {
    state.withLockedValue { $0.delays[ObjectIdentifier(other)] = time }
  }

  /// Returns when all that was published before has reached the others.
  public func flush() async {
    for carrier in hub.carriers.withLockedValue({ Array($0.values) }) {
      await withCheckedContinuation { end in carrier.queue.async { end.resume() } }
    }
  }

  private func tell(_ event: CarrierEvent, after delay: DispatchTimeInterval? = nil) {
    let tell: @Sendable () -> Void = { self.state.withLockedValue { $0.receive }?(event) }
    if let delay {
      queue.asyncAfter(deadline: .now() + delay, execute: tell)
    } else {
      queue.async(execute: tell)
    }
  }
}
