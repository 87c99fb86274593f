import CNATS
import MulticastCarrier
import NIOCore

/// A carrier over the subjects of a nats-server with JetStream, in whose stream what was published is kept. So a
/// process that was away also receives what one has said that has ended meanwhile.
///
/// The stream takes the subjects under `stored.<its name>.`. It is made if it is not there.
public final class JetStreamCarrier: ReplayingCarrier {
  private let live: NATSCarrier
  private let stream: JetStream
  private let reader: JetStreamReader

  /// Creates a carrier that is not connected yet.
  ///
  /// - Parameters:
  ///   - stream: The name of the stream: letters, digits, `-` and `_`. One that is there already is used as it is.
  ///   - length: How many payloads of each topic a new stream keeps.
  ///   - inMemory: Whether a new stream is kept in the server's memory only, and so ends with it.
  public init(
    _ configuration: NATSCarrier.Configuration, stream: String = "multicast", length: Int = 10_000,
    inMemory: Bool = false
  ) {
    let stream = JetStream(name: stream, length: length, inMemory: inMemory)
    self.stream = stream
    live = NATSCarrier(configuration) { connection in
      do {
        let context = try unsafe JetStream.context(connection.pointer)
        defer { unsafe jsCtx_Destroy(context) }
        _ = try unsafe stream.state(context)
        return nil
      } catch { return "\(error)" }
    }
    reader = JetStreamReader(stream, live)
  }

  /// The server's `max_payload`, or 1 MiB before the server has told it.
  public var payloadLimit: Int { live.payloadLimit }

  /// Connects, and connects again after each loss.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { live.open(receive) }

  /// Receives the payloads of a subject, those that are stored and those that are not.
  public func subscribe(to subject: String) {
    live.subscribe(to: subject)
    live.subscribe(to: stream.subject(subject))
  }

  /// Receives the payloads of a subject no longer.
  public func unsubscribe(from subject: String) {
    live.unsubscribe(from: subject)
    live.unsubscribe(from: stream.subject(subject))
  }

  /// Publishes a payload that is not kept.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: subject)
  }

  /// Publishes a payload where the stream takes it, too.
  public func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: stream.subject(subject))
  }

  /// Reads in the stream, over a connection of its own.
  public func stored(
    _ subject: String, after position: StoredPosition?
  ) async throws -> StoredPayloads {
    try await reader.read(stream.subject(subject), after: position)
  }

  /// Sends what waits, for ten seconds at most, and closes the connections.
  public func close() async {
    await live.close()
    await reader.close()
  }
}
