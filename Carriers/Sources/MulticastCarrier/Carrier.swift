import NIOCore

/// What takes payloads to the other processes and brings theirs: the one protocol that an engine conforms
/// to.
///
/// A carrier may lose, repeat and reorder payloads: a ``Carriage`` repairs that. It must not change them.
/// `CarrierConformance`, in `MulticastCarrierTesting`, tests an engine's carrier. A payload is a `ByteBuffer`
/// of `NIOCore`, of the package swift-nio.
public protocol Carrier: Sendable {
  /// The size in bytes of the largest payload that the engine takes.
  var payloadLimit: Int { get }

  /// Connects, and tells what happens from now on.
  ///
  /// Returns at once. The carrier connects, and connects again whenever it has lost the connection, until
  /// it is closed. Each failed attempt is told with its reason.
  ///
  /// - Parameter receive: Is called from one thread at a time, never inside of another method of the
  ///   carrier,
  ///   and returns at once.
  func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void)

  /// Receives the payloads that others publish to a subject, over this connection and all later ones.
  ///
  /// It may receive its own payloads, too: a carriage skips them. May be called before `open`.
  ///
  /// - Parameter subject: Letters, digits, `.`, `-` and `_`.
  func subscribe(to subject: String)

  /// Receives the payloads of a subject no longer.
  func unsubscribe(from subject: String)

  /// Hands a payload over. Never waits for the network. May be called on several threads at once.
  ///
  /// - Throws: `CarrierError.tooLarge`; `.full` if too many bytes wait for the network; `.disconnected`.
  func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError)

  /// Sends what waits, if the engine is connected, and ends. Takes at most ten seconds. Nothing is received
  /// afterwards.
  func close() async
}

/// What a carrier tells.
public enum CarrierEvent: Sendable {
  /// What is published from now on leaves, and what others publish to the subscribed subjects arrives.
  case connected

  /// The engine cannot be reached, for this reason. The carrier tries again until it is closed.
  case disconnected(String)

  /// The engine does not do what it was asked for, or has dropped something, while the connection stands.
  case problem(String)

  /// A payload of a subscribed subject.
  case payload(ByteBuffer)
}

/// Why a message is not carried.
public enum CarrierError: Error, Equatable, CustomStringConvertible {
  /// The engine takes no payload of this size.
  case tooLarge(bytes: Int, limit: Int)
  /// Too many bytes wait already.
  case full(waiting: Int)
  /// There is no connection.
  case disconnected
  /// The codec of the topic cannot encode the message.
  case notEncodable(String)
  /// The topic is not carried.
  case notCarried(String)
  /// Messages of several processes set off each other without an end.
  case loop(hops: Int)
  /// The carriage has been closed.
  case closed

  /// A sentence for whoever posted.
  public var description: String {
    switch self {
    case .tooLarge(let bytes, let limit):
      "The message takes \(bytes) bytes, and the engine carries at most \(limit)."
    case .full(let waiting): "\(waiting) bytes wait already. This message is not carried."
    case .disconnected: "The engine cannot be reached."
    case .notEncodable(let reason): "The message cannot be encoded: \(reason)"
    case .notCarried(let type): "\(type) is not carried."
    case .loop(let hops): "The message is the end of a loop across processes, \(hops) hops long."
    case .closed: "The carriage has been closed."
    }
  }
}
