/// What takes payloads to the other processes and brings theirs: the one protocol that an engine conforms to.
///
/// A carrier is one channel: every payload that one process publishes reaches all others that are connected, at most
/// once, in the order of the calls. README.md has the table of what an engine must offer.
public protocol Carrier: Sendable {
  /// The size in bytes of the largest payload that the engine takes.
  var payloadLimit: Int { get }

  /// Connects, and tells what happens from now on.
  ///
  /// Returns when what the others publish from now on arrives, or when the engine cannot be reached. In the second
  /// case the carrier goes on trying.
  ///
  /// - Parameter receive: Is called from one thread at a time, never inside of `publish`, and returns at once.
  func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) async

  /// Hands a payload over. Never waits for the network.
  ///
  /// - Throws: `CarrierError.tooLarge`, or `.full` if too many payloads wait: this one is dropped.
  func publish(_ payload: [UInt8]) throws(CarrierError)

  /// Sends what waits, if the engine is connected, and ends. Nothing is received afterwards.
  func close() async
}

/// What a carrier tells.
public enum CarrierEvent: Sendable {
  case connected
  /// The engine cannot be reached. The carrier tries again until it is closed.
  case disconnected(String)
  case payload([UInt8])
  /// So many payloads that were on their way in or out have been dropped.
  case dropped(Int, Direction)

  /// From here to the others, or from them.
  public enum Direction: String, Sendable { case incoming, outgoing }
}

/// Why a payload is not carried.
public enum CarrierError: Error, Equatable, CustomStringConvertible {
  case tooLarge(bytes: Int, limit: Int)
  case full(waiting: Int)

  /// A sentence for whoever posted.
  public var description: String {
    switch self {
    case .tooLarge(let bytes, let limit):
      "The message takes \(bytes) bytes, and the engine carries at most \(limit)."
    case .full(let waiting): "\(waiting) messages wait for the engine already. This one is dropped."
    }
  }
}
