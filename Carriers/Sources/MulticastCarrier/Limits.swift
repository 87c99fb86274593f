import NIOCore

extension Carriage {
  /// How much a carriage keeps, and how much may wait.
  ///
  /// Each message counts with its bytes and 64 more.
  public struct Limits: Sendable {
    /// How many bytes of its own messages a carriage keeps, to send them again or because they wait to
    /// leave.
    public var keptBytes = 4 << 20
    /// How long a message is kept that has been sent.
    public var keptTime = TimeAmount.seconds(30)
    /// How many bytes of messages may wait for the handlers of one topic.
    public var waitingBytes = 8 << 20
    /// How many messages may wait for the handlers of one topic.
    public var waitingMessages = 10_000
    /// How many bytes of one process and topic are held while earlier messages are missing.
    public var heldBytes = 4 << 20
    /// How often a process tells the others what it has published.
    public var heartbeat = TimeAmount.seconds(1)
    /// After what silence a process counts as gone.
    public var peerTime = TimeAmount.seconds(5)
    /// How long later messages wait for one that is missing.
    public var repairTime = TimeAmount.seconds(10)
    /// How long an answer waits for its question, in a topic with `followsCauses`. It waits on for one that is here
    /// and waits itself, ten times as long at most.
    public var holdBack = TimeAmount.milliseconds(100)
    /// How many messages one post may set off in a process, in a chain that goes to and fro between
    /// processes.
    public var chain = 1_000
    /// How many other processes are known at once.
    public var peers = 1_000

    /// Creates the limits that fit a team's servers.
    public init() {}
  }
}

/// What becomes of the messages of a topic when too many wait.
public enum Overflow: Sendable {
  /// The oldest make room. The others are told that they are missing.
  case dropOldest
  /// New ones stay in this process, and their poster is told.
  case dropNewest
  /// Only the latest one of all processes counts. Earlier ones may be left out, and nobody misses them.
  case keepLatest
}

/// Which way the messages of a topic go.
public enum Direction: Sendable {
  /// From this process to the others, and from them.
  case both
  /// From this process to the others. The engine brings none, so that none is decoded.
  case outgoing
  /// From the others.
  case incoming
}
