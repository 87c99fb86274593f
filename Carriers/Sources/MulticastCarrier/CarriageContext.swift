import Dispatch
import Multicast
import Synchronization

/// The values that travel with a message from the post to the handlers, in this process and in others.
///
/// Create the center with `MulticastCenter(carrying: .carriage)`. The center then passes the context to handlers in
/// actors and on queues, and a carriage can distinguish the messages that came in from those that are to leave.
public struct CarriageContext: Sendable {
  /// The context of the post, or of the handler, that runs in this task.
  @TaskLocal public static var current = CarriageContext()

  /// Metadata of the message, such as a trace context.
  public internal(set) var metadata: [String: String] = [:]
  /// The name of the process whose message set off this call; nil if no message of another process did.
  public internal(set) var sender: String?
  /// The number of messages in a row that have set off each other across processes.
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

  /// Returns false if a handler of the center in another home has lost the context of a post.
  ///
  /// A center does not say what it carries. So post, and look into the context where no thread has bound it.
  static func isCarried(by center: MulticastCenter) async -> Bool {
    let (isLost, topic) = (Locked(false), Topic<Bool>("MulticastCarrier.probe"))
    center.observe(topic, owner: isLost, on: DispatchQueue(label: "Carriage")) { isLost, _ in
      isLost.withLock { $0 = current.hops != .max }
    }
    await $current.withValue(CarriageContext(hops: .max)) {
      _ = await center.post(topic, true).delivered()
    }
    return isLost.withLock { !$0 }
  }
}

extension CarriedValue {
  /// The value that the center of a ``Carriage`` carries.
  public static var carriage: CarriedValue { CarriedValue(CarriageContext.$current) }
}

/// Marks a message that a carriage posts itself, until the carriage receives it from the center.
///
/// Messages that the handlers post meanwhile have the same mark, but the carriage receives them later, when the mark
/// has been taken.
final class Mark: Sendable {
  /// The bytes of a message that is to leave; nil if the message came in.
  let item: [UInt8]?
  private let line: (carriage: UInt64, type: String)
  private let isTaken = Atomic(false)

  init(_ item: [UInt8]?, by line: Line) {
    (self.item, self.line) = (item, (line.sender.carriage, line.type))
  }

  /// Returns true once: to the line that has created the mark, or to the next line of the same topic.
  func take(by line: Line) -> Bool {
    (line.sender.carriage, line.type) == self.line && !isTaken.exchange(true, ordering: .relaxed)
  }
}
