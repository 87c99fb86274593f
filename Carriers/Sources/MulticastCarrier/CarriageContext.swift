import Multicast
import Synchronization

/// What goes with a message from the post to the handlers, in this process and in the others.
///
/// A center has to carry it, so that handlers in actors and queues have it, and so that a carriage can tell what it has
/// brought from what is to leave: `MulticastCenter(carrying: .carriage)`.
public struct CarriageContext: Sendable {
  /// The context of the post, or of the handler, that runs in this task.
  @TaskLocal public static var current = CarriageContext()

  /// Metadata of the message, such as a trace context.
  public internal(set) var metadata: [String: String] = [:]
  /// The name of the process whose message set off this call; nil if no message of another process did.
  public internal(set) var sender: String?
  /// How many messages in a row have set off each other across processes.
  var hops: UInt16 = 0
  /// The message that a carriage posts with this context.
  var mark: Mark?

  /// Returns the current context with other metadata.
  ///
  /// ```swift
  /// CarriageContext.$current.withValue(.with(metadata: ["traceparent": id])) { center.post(.price, price) }
  /// ```
  public static func with(metadata: [String: String]) -> Self {
    var context = current
    context.metadata = metadata
    return context
  }
}

extension CarriedValue {
  /// The value that the center of a ``Carriage`` carries.
  public static var carriage: CarriedValue { CarriedValue(CarriageContext.$current) }
}

/// A message that a carriage posts itself, until it comes back to the carriage.
///
/// What the handlers of the message post has the same mark, and comes later: then the mark has been taken.
final class Mark: Sendable {
  /// The bytes of a message that is to leave; nil if the message has come in.
  let item: [UInt8]?
  private let line: (carriage: UInt64, type: String)
  private let isTaken = Atomic(false)

  init(_ item: [UInt8]?, by line: Line) {
    (self.item, self.line) = (item, (line.sender.carriage, line.type))
  }

  /// Returns true once, to the line that has made it, or the next one of its topic.
  func take(by line: Line) -> Bool {
    (line.sender.carriage, line.type) == self.line && !isTaken.exchange(true, ordering: .relaxed)
  }
}
