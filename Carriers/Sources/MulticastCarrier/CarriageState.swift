import Multicast

/// How it stands with a carriage: for health checks, metrics, and a word to the people at the screens.
public struct CarriageState: Sendable, Equatable {
  /// Whether the engine can be reached.
  public enum Connection: Sendable, Equatable {
    /// It can be reached.
    case connected
    /// It cannot be reached, for this reason.
    case alone(since: ContinuousClock.Instant, reason: String)
    /// The carriage has ended.
    case closed
  }

  /// Whether the engine can be reached.
  public internal(set) var connection: Connection
  /// The last sentence in which the engine has refused something since the connection was lost before.
  public internal(set) var problem: String?
  /// How many messages wait to leave.
  public internal(set) var waitingMessages = 0
  /// How many bytes wait to leave.
  public internal(set) var waitingBytes = 0
  /// The other processes, and for each how many of its messages are known to be under way.
  public internal(set) var lag: [Identity: UInt64] = [:]
  /// How many messages have been given up since the start, on their way in or out.
  public internal(set) var dropped = 0
  /// How many messages of others are missing for good.
  public internal(set) var missing: UInt64 = 0
}

extension Topic where Message == CarriageState {
  /// The state of the carriage. It is posted at most once a second, and at once when the connection
  /// changes or the engine refuses something new.
  public static var carriageState: Self { Topic("MulticastCarrier.state", keepsLatest: true) }
}
