import NIOCore

/// A carrier of an engine that stores what is published, so that it can be had again when its sender has ended.
///
/// A carriage reads on where it has read before: after each new connection, and for what a sender has no more or
/// took with it. `CarrierConformance` tests it, too.
public protocol ReplayingCarrier: Carrier {
  /// Hands a payload over, to be stored and carried. Otherwise the same as `publish`.
  func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError)

  /// Reads what was stored to a subject after a position, in the order of the store: a page of a few payloads,
  /// such as 64, so that a long store does not fill the memory. ``StoredPayloads/hasMore`` tells of the rest.
  ///
  /// - Parameter position: Where an earlier reading has ended. With nil, nothing is read but where the store ends.
  ///   One of another epoch is not believed: then the payloads begin with the first that this store has.
  func stored(
    _ subject: String, after position: StoredPosition?
  ) async throws -> StoredPayloads
}

/// A place in what an engine has stored to a subject.
public struct StoredPosition: Sendable, Hashable {
  /// Which store it is. An engine whose store was deleted or made anew has another one.
  public var epoch: String
  /// What the engine calls the last payload before this place. In another epoch it means nothing.
  public var offset: String

  /// Creates a position.
  public init(epoch: String, offset: String) {
    self.epoch = epoch
    self.offset = offset
  }
}

/// Payloads that follow each other in a store.
public struct StoredPayloads: Sendable, Equatable {
  /// The payloads, in the order of the store.
  public var payloads: [ByteBuffer]
  /// The place after the last one.
  public var end: StoredPosition
  /// Whether the store has more behind it.
  public var hasMore: Bool

  /// Creates payloads that follow each other.
  public init(_ payloads: [ByteBuffer], end: StoredPosition, hasMore: Bool) {
    self.payloads = payloads
    self.end = end
    self.hasMore = hasMore
  }
}
