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

  /// The message of another process that has set off the post, or is the post.
  struct Cause: Sendable {
    let sender: Identity
    let type: String
    let origin: Origin
  }

  let cause: Cause?
  private let carriage: Identity
  private let type: String
  private let message: Message
  private let isTaken = Atomic(false)

  init(_ message: Message, of type: String, by carriage: Identity, because cause: Cause?) {
    self.message = message
    self.type = type
    self.carriage = carriage
    self.cause = cause
  }

  /// Returns the message once, to its carriage.
  func take(_ type: String, by carriage: Identity) -> Message? {
    guard type == self.type, carriage == self.carriage,
      !isTaken.exchange(true, ordering: .relaxed)
    else { return nil }
    return message
  }
}
