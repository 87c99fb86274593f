import NIOCore

/// A carrier of an engine that stores what is published, so that it can be had again when its sender has ended.
///
/// A carriage asks for it after each new connection, and for what a sender has no more or took with it.
public protocol ReplayingCarrier: Carrier {
  /// Hands a payload over, to be stored and carried. Otherwise the same as `publish`.
  func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError)

  /// Returns what was stored to a subject in the last time, as far as the engine still has it. It may be more.
  func stored(_ subject: String, inTheLast time: TimeAmount) async throws -> [ByteBuffer]
}
