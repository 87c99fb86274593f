import Foundation

/// An adapter to the logs of an engine: the one protocol that an engine conforms to.
///
/// The engine numbers, stores and replays records. The carrier connects to it, and connects again after each loss,
/// until it is closed. No method blocks a thread of Swift's pool. A method that needs the engine throws
/// `CarrierError.disconnected` if the engine cannot be reached, and `CarrierError.refused` if it refuses; the caller then
/// tries again. After `close()`, the method throws `CarrierError.closed`. One task at a time appends to a log, and one
/// reads it. After its topic is no longer carried, calls of the cancelled tasks may still run beside those of the next ones.
public protocol Carrier: Sendable {
  /// The size in bytes of the largest record that the engine takes.
  var recordLimit: Int { get }

  /// Stores a record at the end of a log.
  ///
  /// - Parameter id: A random number, and the same one if the record is sent again after it may have been stored. An engine
  ///   that supports identifiers stores the record only once. No other client can guess the number and use it first, which
  ///   would make the engine drop the record.
  /// - Returns: The position after the record.
  /// - Throws: `CarrierError.tooLarge` if the engine never stores a record of this size; then it has not stored it.
  ///   After another error, it may have stored it.
  func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position

  /// Returns the next records after a position, in order, as soon as there are any, or none if none arrive for a few
  /// seconds.
  ///
  /// - Parameter limit: The largest number of records, and, times 16 KiB, of bytes. A larger record is returned alone.
  /// - Throws: `CarrierError.beganAnew` if the log is not the one of the position, or has lost its end, so that the
  ///   position holds another record or none; `CancellationError` if the task was cancelled before it began to wait.
  func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record]

  /// Returns the end of a log: the position after its last record, or number 0 if the log is empty.
  ///
  /// Its epoch is that of the next record, unless the log is deleted before, or is empty and another carrier is first.
  func end(of log: Log) async throws -> Position

  /// Returns false if the engine may have dropped records of the topic after a position before they were read here.
  ///
  /// The log has been read from the position on. Each drop is returned only once.
  func isComplete(_ log: Log, since position: Position) async throws -> Bool

  /// Stops reading the log until the next `read`, because its topic is no longer carried. Call this after the task that reads was
  /// cancelled. A `read` that still waits ends.
  func release(_ log: Log)

  /// Closes the carrier. Every call that waits throws.
  func close() async
}

/// Keys with an expiry, for ``Presence``. Some carriers offer them.
public protocol Registry: Sendable {
  /// Stores a value under a name for a while. Returns all values of the prefix, including this one.
  ///
  /// - Parameter value: Nil to remove the value.
  /// - Returns: The values, and whether the name's previous value was still stored.
  /// - Throws: A ``CarrierError``, as the functions of ``Carrier`` do.
  func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool)
}

/// Why a message is not carried, or an engine does not do what a carrier asks for. Later versions may add cases.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum CarrierError: Error, Hashable, CustomStringConvertible {
  /// The engine stores no record of this size, or the outbox of this carriage is smaller.
  case tooLarge(bytes: Int, limit: Int)
  /// The outbox is full.
  case full
  /// The engine cannot be reached.
  case disconnected(String)
  /// The engine refuses a request, in its own words.
  case refused(String)
  /// The log is not the one that was read, or has lost its end. Read it again after this position.
  case beganAnew(Position)
  /// The codec of the topic cannot encode the message.
  case notEncodable(String)
  /// The topic is not carried.
  case notCarried
  /// Messages of several processes set off each other endlessly.
  case loop
  /// The carriage has been closed.
  case closed

  /// A sentence for the operator of the program.
  public var description: String {
    switch self {
    case .tooLarge(let bytes, let limit): "It takes \(bytes) bytes, and \(limit) are the most."
    case .full:
      "The outbox is full. Raise Carriage.Limits, or await carriage.post, which waits for room."
    case .disconnected(let reason): "The engine cannot be reached: \(reason)"
    case .refused(let reason): "The engine refuses it: \(reason)"
    case .beganAnew: "The log was created again."
    case .notEncodable(let reason): "The message cannot be encoded: \(reason)"
    case .notCarried: "The topic is not carried."
    case .loop: "The message is the end of a loop across processes."
    case .closed: "The carriage has been closed."
    }
  }

  /// Returns the error without passwords, which engines repeat in their refusals.
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

extension URLComponents {
  /// The password of the address, or its user, which is a token or a password if it is alone: as written, and decoded.
  package var secrets: [String] {
    let both = password == nil ? [user, percentEncodedUser] : [password, percentEncodedPassword]
    return both.compactMap(\.self)
  }
}

/// Returns an address without the text before its last `@`, which may be a password.
package func withoutSecrets(_ url: String) -> String {
  url.replacing(/^([a-z]+:\/\/)?.*@/) { "\($0.1 ?? "")…@" }
}

/// Parses an address of an engine. Its error contains no secret.
package func address(
  _ url: String, _ schemes: [String], like example: String
) throws(CarrierError) -> URLComponents {
  guard let parts = URLComponents(string: url), schemes.contains(parts.scheme ?? ""),
    parts.host?.isEmpty == false, (0...65_535).contains(parts.port ?? 0)
  else { throw .refused("\(withoutSecrets(url)) is not an address like \(example).") }
  return parts
}

extension Duration {
  /// The duration in a unit, but at most 4 × 10¹⁸, which engines can count: in nanoseconds, that is more than a hundred years.
  package func count(of unit: Duration) -> Int64 { Int64(min(self / unit, 4e18)) }
}

/// Calls a body once in each period, as long as it returns true.
package func repeatedly(every period: Duration, _ body: @escaping @Sendable () async -> Bool?) {
  Task { repeat { try? await Task.sleep(for: period) } while await body() == true }
}

/// The state that a carrier holds for one connection to an engine, until the connection is lost.
package protocol EngineSession: AnyObject, Sendable {
  /// Whether the session can no longer be used.
  var hasEnded: Bool { get }
  /// Whether the engine has not answered in time.
  var hasTimedOut: Bool { get }
  /// Ends the session. Every call that waits throws the error.
  func end(_ error: CarrierError)
}

/// The session of a carrier. It is created when it is needed, and again after it has ended, until the carrier is
/// closed.
package final class Sessions<Session: EngineSession>: Sendable {
  /// - Parameters:
  ///   - isAnother: Whether there was a session before.
  ///   - patience: How long the engine may be silent.
  package typealias Make = @Sendable (_ isAnother: Bool, _ patience: Duration) -> Session

  private let make: Make
  private let state = Locked((session: nil as Session?, isClosed: false, patience: Duration.zero))

  package init(_ make: @escaping Make) { self.make = make }

  deinit { last?.end(.closed) }

  /// The session that was created last.
  package var last: Session? { state.withLock { $0.session } }

  /// Returns a session that has not ended.
  package func current() throws -> Session {
    try state.withLock { state in
      if state.isClosed { throw CarrierError.closed }
      if let session = state.session, !session.hasEnded { return session }
      // A large record may take longer on a slow connection. With the same patience, it would be sent again and again.
      let isLate = state.session?.hasTimedOut == true
      state.patience = isLate ? min(state.patience * 2, .seconds(64)) : .seconds(8)
      let session = make(state.session != nil, state.patience)
      state.session = session
      return session
    }
  }

  /// Creates no more sessions. Returns the last one, which the caller ends.
  package func close() -> Session? {
    state.withLock { $0.isClosed = true }
    return last
  }
}
