import Multicast

/// What a carriage reports in its own process, on the topic `.carriage`.
///
/// Later versions may add cases, so a `switch` needs a `default`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum CarriageReport: Sendable, Hashable {
  /// The engine can be reached.
  case connected
  /// The engine cannot be reached, for this reason. Posted messages wait, and none come in.
  case disconnected(String)
  /// The engine refuses to store or to return the records of a topic, in its own words. The carriage tries again and
  /// again, and posted messages wait.
  ///
  /// The carriage itself refuses a topic that it cannot carry, and all topics, as `*`, if its center was made without
  /// `carrying: .carriage`.
  case refused(type: String, reason: String)
  /// From here on, each message of the topic is received or reported as missing.
  case began(type: String)
  /// Messages are missing for good. Without a count, the engine has dropped records unread, and some messages may be
  /// missing.
  case gap(type: String, sender: String?, missing: UInt64?)
  /// The log of a topic was created again or has lost its end, or another client has published a false position. The log is read
  /// again.
  case beganAnew(type: String)
  /// A record could not be used, or another process has written it in a sender's name.
  case skipped(type: String, reason: String, count: UInt64)
  /// Messages of a topic that is or was carried have stayed in this process.
  case kept(type: String, reason: CarrierError, count: UInt64)

  /// Returns the same report with another count. If it is brief, it leaves out the details that differ from message to
  /// message.
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

/// The state of a carriage, for health checks, metrics and a line on the screen.
public struct CarriageState: Sendable, Equatable {
  /// Whether the engine can be reached. Later versions may add cases.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Connection: Sendable, Equatable {
    /// The engine can be reached.
    case connected
    /// The engine cannot be reached, for this reason.
    case disconnected(String)
    /// The carriage has ended.
    case closed
  }

  /// Whether the engine can be reached. A refusal does not change it: see ``refusals``.
  public internal(set) var connection = Connection.disconnected("The carriage does not run yet.")
  /// What the engine refuses at the moment, by topic, in its own words.
  public internal(set) var refusals: [String: String] = [:]
  /// The number of messages that wait to leave.
  ///
  /// The carriage counts a message when it hears it, on a queue of its own: perhaps after `post` has returned, and before
  /// `await center.post(…).delivered()` does. So 0 does not mean that all messages have left. Before the process exits, call
  /// ``Carriage/close()``, which sends the waiting messages.
  public internal(set) var waitingMessages = 0
  /// The number of bytes that wait to leave.
  public internal(set) var waitingBytes = 0
  /// The number of messages that the engine has stored for this process.
  public internal(set) var sent: UInt64 = 0
  /// The number of messages of other processes that have been handled.
  public internal(set) var received: UInt64 = 0
  /// The number of messages of other processes that came a second time, and were skipped.
  public internal(set) var repeated: UInt64 = 0
  /// The number of messages of other processes that are missing for good.
  public internal(set) var missing: UInt64 = 0
  /// The number of messages of this process that have stayed in it.
  public internal(set) var kept: UInt64 = 0

  /// Whether the engine can be reached and refuses nothing.
  public var isWell: Bool { connection == .connected && refusals.isEmpty }
}

extension Topic where Message == CarriageReport {
  /// The reports of the carriages of a center.
  public static var carriage: Self { Topic("MulticastCarrier.report") }
}

extension Topic where Message == CarriageState {
  /// The state of the carriage, posted once a second if it has changed.
  public static var carriageState: Self { Topic("MulticastCarrier.state", keepsLatest: true) }
}
