import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// A carrier between the carriages of one process, whose store keeps what was published: for tests of what a store
/// repairs.
public final class InMemoryStoreCarrier: ReplayingCarrier {
  /// What connects carriers with each other, and keeps what they store.
  public final class Store: Sendable {
    fileprivate let hub = InMemoryCarrier.Hub()
    private let state = NIOLockedValueBox<(epoch: Int, payloads: [String: [ByteBuffer]])>((0, [:]))

    /// Creates an empty store.
    public init() {}

    /// Loses everything, as an engine that has ended and comes back without its memory.
    public func empty() { state.withLockedValue { $0 = ($0.epoch + 1, [:]) } }

    fileprivate func append(_ payload: ByteBuffer, to subject: String) {
      state.withLockedValue { $0.payloads[subject, default: []].append(payload) }
    }

    fileprivate func page(_ subject: String, after position: StoredPosition?) -> StoredPayloads {
      let (epoch, payloads) = state.withLockedValue { ("\($0.epoch)", $0.payloads[subject] ?? []) }
      func place(_ offset: Int) -> StoredPosition { .init(epoch: epoch, offset: "\(offset)") }
      guard let position else {
        return StoredPayloads([], end: place(payloads.count), hasMore: false)
      }
      let start = position.epoch == epoch ? Int(position.offset) ?? 0 : 0
      let end = min(payloads.count, start + 64)
      return StoredPayloads(
        Array(payloads[start..<end]), end: place(end), hasMore: end < payloads.count)
    }
  }

  /// The connection, which can be cut.
  public let live: InMemoryCarrier
  private let store: Store

  /// Creates a carrier that is connected with all others of its store once it is open.
  public init(_ store: Store) {
    self.store = store
    live = InMemoryCarrier(hub: store.hub)
  }

  /// The size in bytes of the largest payload.
  public var payloadLimit: Int { live.payloadLimit }

  /// Connects.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { live.open(receive) }

  /// Receives the payloads of a subject.
  public func subscribe(to subject: String) { live.subscribe(to: subject) }

  /// Receives the payloads of a subject no longer.
  public func unsubscribe(from subject: String) { live.unsubscribe(from: subject) }

  /// Publishes a payload that is not kept.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: subject)
  }

  /// Publishes a payload, and keeps it.
  public func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: subject)
    store.append(payload, to: subject)
  }

  /// Reads what the store has.
  public func stored(
    _ subject: String, after position: StoredPosition?
  ) async throws -> StoredPayloads { store.page(subject, after: position) }

  /// Ends.
  public func close() async { await live.close() }
}
