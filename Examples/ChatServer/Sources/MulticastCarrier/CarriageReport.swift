import Multicast

/// What a carriage tells its own process, on the topic `.carriage`.
public enum CarriageReport: Sendable, Equatable {
  case connected
  /// What is posted from now on may not reach the others, nor theirs this process.
  case disconnected(String)
  /// A process is there, or there again.
  case joined(node: String)
  /// After this message of this process, some are missing: `missing` of them, as far as is known.
  case gapPossible(since: Place, missing: UInt64)
  /// A message that came in could not be read. It was not posted.
  case skipped(String)
  /// A message that was posted here stays in this process.
  case kept(type: String, CarrierError)
  case dropped(Int, CarrierEvent.Direction)

  /// A message of a process.
  public struct Place: Sendable, Equatable {
    /// The process.
    public let node: String
    /// The message's number among those of the process, from 1.
    public let sequence: UInt64
  }
}

extension Topic where Message == CarriageReport {
  /// What the carriages of a center tell.
  public static var carriage: Self { Topic("carriage") }
}
