/// How messages are kept that a loop has not come to yet.
public enum MessageBuffering: Hashable, Sendable {
  /// All are kept.
  case unbounded

  /// This many of the newest are kept, and older ones are dropped. A negative number stops the program.
  case newest(Int)

  /// This many of the oldest are kept, and newer ones are dropped. A negative number stops the program.
  case oldest(Int)
}

extension AsyncStream.Continuation.BufferingPolicy {
  init(_ buffering: MessageBuffering) {
    switch buffering {
    case .unbounded: self = .unbounded
    case .newest(let count): self = .bufferingNewest(Self.checked(count))
    case .oldest(let count): self = .bufferingOldest(Self.checked(count))
    }
  }

  private static func checked(_ count: Int) -> Int {
    guard count >= 0 else {
      fatalError("Multicast: a buffer of \(count) messages is negative; use 0 or more")
    }
    return count
  }
}
