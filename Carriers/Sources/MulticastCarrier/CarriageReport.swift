import Multicast

/// What a carriage tells its own process, on the topic `.carriage`.
public enum CarriageReport: Sendable, Hashable {
  /// The engine can be reached.
  case connected
  /// The engine cannot be reached, for this reason. What is posted waits, and nothing comes in.
  case disconnected(String)
  /// The engine refuses to store or to give what is said to a topic, in its own words. It is asked again and again, and
  /// what is posted waits.
  case refused(type: String, reason: String)
  /// From here on, all messages of a topic are received or told to be missing.
  case began(type: String)
  /// Messages are missing for good. Without a count, some may be: the engine has dropped records that were not read.
  case gap(type: String, sender: String?, missing: UInt64?)
  /// The engine has lost the log of a topic.
  case beganAnew(type: String)
  /// What was received could not be used, or is told in somebody else's name.
  case skipped(type: String, reason: String, count: UInt64)
  /// Messages have stayed in this process, though their topic is carried.
  case kept(type: String, reason: CarrierError, count: UInt64)
}

/// How it stands with a carriage: for health checks, metrics, and a word to the people at the screens.
public struct CarriageState: Sendable, Equatable {
  /// Whether the engine can be reached.
  public enum Connection: Sendable, Equatable {
    /// It can be reached.
    case connected
    /// It cannot be reached, for this reason.
    case disconnected(String)
    /// The carriage has ended.
    case closed
  }

  /// Whether the engine can be reached.
  public internal(set) var connection = Connection.disconnected("The carriage does not run yet.")
  /// What the engine refuses at the moment, by topic, in its own words.
  public internal(set) var refusals: [String: String] = [:]
  /// How many messages wait to leave.
  public internal(set) var waitingMessages = 0
  /// How many bytes wait to leave.
  public internal(set) var waitingBytes = 0
  /// How many messages the engine has stored for this process.
  public internal(set) var sent: UInt64 = 0
  /// How many messages of others have been handled.
  public internal(set) var received: UInt64 = 0
  /// How many messages of others came a second time, and were skipped.
  public internal(set) var repeated: UInt64 = 0
  /// How many messages of others are known to be missing for good.
  public internal(set) var missing: UInt64 = 0
  /// How many messages of this process have stayed in it.
  public internal(set) var kept: UInt64 = 0

  /// Whether the engine can be reached and refuses nothing.
  public var isWell: Bool { connection == .connected && refusals.isEmpty }
}

extension Topic where Message == CarriageReport {
  /// What the carriages of a center report.
  public static var carriage: Self { Topic("MulticastCarrier.report") }
}

extension Topic where Message == CarriageState {
  /// The state of the carriage, once a second if it has changed.
  public static var carriageState: Self { Topic("MulticastCarrier.state", keepsLatest: true) }
}

extension CarriageReport {
  /// The same with another count, without what differs from message to message if there is too much to tell each.
  func with(_ count: UInt64, isBrief: Bool = false) -> Self {
    switch self {
    case .gap(let type, let sender, _):
      .gap(type: type, sender: isBrief ? nil : sender, missing: count)
    case .skipped(let type, let reason, _):
      .skipped(type: type, reason: isBrief ? "Several." : reason, count: count)
    case .kept(let type, let reason, _):
      .kept(type: type, reason: isBrief ? .refused("Several.") : reason, count: count)
    default: self
    }
  }
}
