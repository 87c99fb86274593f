import Foundation

/// An adapter to the logs of an engine: the one protocol that an engine conforms to.
///
/// The engine numbers, stores and replays. The carrier connects, and connects again after each loss, until it is closed.
/// No method blocks a thread of Swift's pool. Each throws `CarrierError.disconnected` when the engine cannot be reached, and
/// `CarrierError.refused` when it refuses: who called tries again. After `close()`, each throws `CarrierError.closed`. One
/// task at a time appends to a log, and one reads it.
public protocol Carrier: Sendable {
  /// The size in bytes of the largest record that the engine takes.
  var recordLimit: Int { get }

  /// Stores a record behind all that was stored before.
  ///
  /// - Parameter id: Digits and hyphens, the same when the same record is sent again. An engine that knows how to stores it
  ///   once. Another carrier may use the same one, and both records are stored.
  /// - Returns: The place behind the record.
  /// - Throws: `CarrierError.tooLarge`, if the engine never takes a record of this size; then it has not stored it. After
  ///   another error, it may have.
  func append(_ record: [UInt8], to log: Log, id: String) async throws -> Position

  /// Returns the next records after a place, in order, as soon as there are any; none if nothing comes for a few seconds.
  ///
  /// - Parameter limit: How many records there may be, and in 16 KiB, how many bytes. A larger record comes alone.
  /// - Throws: `CarrierError.beganAnew` if the log is another one than that of the position, or has lost its end, so that
  ///   another record is at the position, or none.
  func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record]

  /// Returns the end of a log: the place behind its last record, or number 0 if it has none.
  func end(of log: Log) async throws -> Position

  /// Returns whether the engine can have dropped nothing of the topic behind a place before it was read here.
  ///
  /// The log has been read from the position on. Each drop is told once.
  func isComplete(_ log: Log, since position: Position) async throws -> Bool

  /// Reads the log no longer, until the next `read`: its topic is carried no more.
  func release(_ log: Log)

  /// Ends. Everything that waits throws.
  func close() async
}

/// Keys with an expiry, for ``Presence``: an ability of some carriers.
public protocol Registry: Sendable {
  /// Keeps a value under a name for a while, and returns all that is kept for the prefix, own value included.
  ///
  /// - Parameter value: Nil to keep nothing under the name any more.
  /// - Returns: The values, and whether the one that was kept under the name before was still there.
  func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool)
}

/// Why a message is not carried, or an engine does not do what it is asked for.
public enum CarrierError: Error, Hashable, CustomStringConvertible {
  /// The engine takes no record of this size, or no outbox of this carriage has as much room.
  case tooLarge(bytes: Int, limit: Int)
  /// Too much waits already.
  case full
  /// The engine cannot be reached.
  case disconnected(String)
  /// The engine refuses something, in its own words.
  case refused(String)
  /// The log was emptied or made anew, and begins after this place.
  case beganAnew(Position)
  /// The codec of the topic cannot encode the message.
  case notEncodable(String)
  /// The topic is not carried.
  case notCarried
  /// Messages of several processes set off each other without an end.
  case loop
  /// The carriage has been closed.
  case closed

  /// A sentence for whoever operates the program.
  public var description: String {
    switch self {
    case .tooLarge(let bytes, let limit):
      "It takes \(bytes) bytes, and \(limit) are the most."
    case .full: "Too much waits to leave."
    case .disconnected(let reason): "The engine cannot be reached: \(reason)"
    case .refused(let reason): "The engine refuses it: \(reason)"
    case .beganAnew: "The log was made anew."
    case .notEncodable(let reason): "The message cannot be encoded: \(reason)"
    case .notCarried: "The topic is not carried."
    case .loop: "The message is the end of a loop across processes."
    case .closed: "The carriage has been closed."
    }
  }
}

extension CarrierError {
  /// The same without passwords, which engines repeat in their refusals.
  package func without(_ secrets: [String]) -> Self {
    secrets.filter { !$0.isEmpty }.reduce(self) { error, secret in
      switch error {
      case .disconnected(let text): .disconnected(text.replacing(secret, with: "…"))
      case .refused(let text): .refused(text.replacing(secret, with: "…"))
      default: error
      }
    }
  }
}

/// Takes apart an address of an engine, which is refused without what stands before its last `@`: it may be a password.
package func address(
  _ url: String, _ schemes: [String], like example: String
) throws(CarrierError) -> URLComponents {
  guard let parts = URLComponents(string: url), schemes.contains(parts.scheme ?? ""),
    parts.host?.isEmpty == false, (0...65_535).contains(parts.port ?? 0)
  else {
    let shown = url.replacing(/^([a-z]+:\/\/)?.*@/) { "\($0.1 ?? "")…@" }
    throw .refused("\(shown) is no address like \(example).")
  }
  return parts
}

/// What a carrier has of an engine from a connection to its loss.
package protocol EngineSession: AnyObject, Sendable {
  /// Whether it is of no use any more.
  var hasEnded: Bool { get }
  /// Whether the engine has not answered in time.
  var hasTimedOut: Bool { get }
  /// Ends it. Whoever waits is told why.
  func end(_ error: CarrierError)
}

/// The session of a carrier: made when it is needed, and anew when it has ended, until the carrier is closed.
package final class Sessions<Session: EngineSession>: Sendable {
  /// - Parameters:
  ///   - isAnother: Whether there has been one before.
  ///   - patience: How long the engine may say nothing.
  package typealias Make = @Sendable (_ isAnother: Bool, _ patience: Duration) -> Session

  private let make: Make
  private let state = Locked((session: nil as Session?, isClosed: false, patience: Duration.zero))

  package init(_ make: @escaping Make) { self.make = make }

  deinit { last?.end(.closed) }

  /// The last one that was made.
  package var last: Session? { state.withLock { $0.session } }

  /// Returns one that lasts.
  package func current() throws -> Session {
    try state.withLock { state in
      if state.isClosed { throw CarrierError.closed }
      if let session = state.session, !session.hasEnded { return session }
      // A large record may take longer on a slow connection. With the same patience it would be sent again forever.
      let isLate = state.session?.hasTimedOut == true
      state.patience = isLate ? min(state.patience * 2, .seconds(64)) : .seconds(8)
      let session = make(state.session != nil, state.patience)
      state.session = session
      return session
    }
  }

  /// Makes none any more. Returns the last one, which is to be ended.
  package func close() -> Session? {
    state.withLock { $0.isClosed = true }
    return last
  }
}
