import NIOCore
import Synchronization

/// A message that a carriage posts itself, until it comes back to the carriage.
///
/// What the handlers of the message post has the same mark, and comes later: then the mark has been taken.
final class Mark: Sendable {
  enum Message: Sendable {
    /// It has come in, with a stamp if it is a latest value.
    case cameIn(Stamp?)
    /// It is to leave, with these bytes.
    case encoded(ByteBuffer)
  }

  private let carriage: Identity
  private let type: String
  private let message: Message
  private let isTaken = Atomic(false)

  init(_ message: Message, of type: String, by carriage: Identity) {
    self.message = message
    self.type = type
    self.carriage = carriage
  }

  /// Returns the message once, to its carriage.
  func take(_ type: String, by carriage: Identity) -> Message? {
    guard type == self.type, carriage == self.carriage,
      !isTaken.exchange(true, ordering: .relaxed)
    else { return nil }
    return message
  }
}
