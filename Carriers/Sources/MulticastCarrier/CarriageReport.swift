import Multicast

/// What a carriage tells its own process, on the topic `.carriage`.
public enum CarriageReport: Sendable, Equatable {
  /// The engine can be reached.
  case connected
  /// The engine cannot be reached, for this reason. What is posted waits, and what the others post is
  /// missing until they are reached again.
  case disconnected(String)
  /// The engine refuses or drops something while the connection stands. The sentence is the engine's, and is
  /// told once as long as the connection stands.
  case problem(String)
  /// A process is there. From now on, its messages are complete.
  case joined(Identity)
  /// A process has ended, or has not been heard of for a while.
  case left(Identity)
  /// Another process has the name of this one.
  case nameTaken(Identity)
  /// Messages of a process are missing for good: it has them no more.
  case gapPossible(since: Place, missing: UInt64)
  /// The engine has stored what is said to this topic, and its store was emptied or made anew. What was in it of
  /// processes that have ended is missing, if it was not heard before.
  case storeBeganAnew(type: String)
  /// A payload could not be used. `count` is the number of such payloads since the last report with this
  /// reason.
  case skipped(reason: String, count: Int)
  /// Messages have stayed in this process, though their topic is carried.
  case kept(type: String, reason: CarrierError, count: Int)
  /// Messages were given up, because more waited than the limits of the carriage allow.
  case dropped(type: String, Direction, count: Int)

  /// A message of a process.
  public struct Place: Sendable, Equatable {
    /// The process.
    public let sender: Identity
    /// What the topic is called outside of the program.
    public let type: String
    /// The number of the message among those of the process to the topic.
    public let sequence: UInt64
  }

  /// From this process to the others, or from them.
  public enum Direction: String, Sendable {
    /// From the others.
    case incoming
    /// To the others.
    case outgoing
  }
}

extension Topic where Message == CarriageReport {
  /// What the carriages of a center report. Handlers without a home run on a queue of the carriage, which
  /// waits for them.
  public static var carriage: Self { Topic("MulticastCarrier.report") }
}
