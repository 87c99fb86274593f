import Dispatch
import Multicast
import Synchronization
import Tracing

/// The values that travel with a message from the post to the handlers, in this process and in others.
///
/// They are a part of the task's `ServiceContext`. Create the center with `MulticastCenter(carrying: .carriage)`. The
/// center then passes the service context to handlers in actors and on queues, and a carriage can distinguish the
/// messages that came in from those that are to leave.
///
/// A carriage injects the service context of a post into the metadata of the message, with the program's `Instrument`,
/// and extracts it for the handlers of other processes. So the span of a post is the parent of their spans.
public final class CarriageContext: Sendable {
  private enum Key: ServiceContextKey { typealias Value = CarriageContext }

  static let empty = CarriageContext()

  /// The context of the post, or of the handler, that runs in this task.
  public static var current: CarriageContext { ServiceContext.current?[Key.self] ?? empty }

  /// Metadata of the message, such as a tenant. It contains what the program's `Instrument` has injected.
  public let metadata: [String: String]
  /// The name of the process whose message set off this call; nil if no message of another process did.
  public let sender: String?
  /// The number of messages in a row that have set off each other across processes.
  let hops: UInt16

  /// The carriage that posts a message with this context, and the message's type; nil if the program posts.
  private let origin: (carriage: UInt64, type: String)?
  /// The bytes of that message if it is to leave; nil if it came in.
  let item: [UInt8]?
  private let taken = Atomic(false)

  init(
    metadata: [String: String] = [:], sender: String? = nil, hops: UInt16 = 0,
    origin: (carriage: UInt64, type: String)? = nil, item: [UInt8]? = nil
  ) {
    (self.metadata, self.sender, self.hops) = (metadata, sender, hops)
    (self.origin, self.item) = (origin, item)
  }

  /// Returns the task's service context with other metadata for the messages that are posted in it. A message with a key of more
  /// than 256 bytes is not sent, and reported as ``CarriageReport/kept(type:reason:count:)``.
  ///
  /// ```swift
  /// ServiceContext.withValue(CarriageContext.with(metadata: ["tenant": id])) { center.post(.price, price) }
  /// ```
  public static func with(metadata: [String: String]) -> ServiceContext {
    CarriageContext(metadata: metadata, sender: current.sender, hops: current.hops)
      .in(ServiceContext.current)
  }

  /// Returns a service context with this context in it.
  func `in`(_ service: consuming ServiceContext?) -> ServiceContext {
    var service = service ?? .topLevel
    service[Key.self] = self
    return service
  }

  /// Whether the carriage has received the message that it posts with this context.
  ///
  /// Messages that the handlers post meanwhile have the same context, but the carriage receives them later, when the context has
  /// been taken. Relaxed, because the flag alone decides: the properties never change.
  var isTaken: Bool { taken.load(ordering: .relaxed) }

  /// Takes the message that a carriage posts with this context. Returns true once: to the line that posts it, or to the next
  /// line of the same topic.
  func take(by line: Line) -> Bool {
    guard let origin, origin == (line.sender.carriage, line.type) else { return false }
    return !taken.exchange(true, ordering: .relaxed)
  }

  /// Returns false if a handler of the center in another home has lost the context of a post.
  ///
  /// A center does not say what it carries. So post, and look into the context where no thread has bound it.
  static func isCarried(by center: MulticastCenter) async -> Bool {
    let (isLost, topic) = (Locked(false), Topic<Bool>("MulticastCarrier.probe"))
    center.observe(topic, owner: isLost, on: DispatchQueue(label: "Carriage")) { isLost, _ in
      isLost.withLock { $0 = current.hops != .max }
    }
    await ServiceContext.withValue(CarriageContext(hops: .max).in(nil)) {
      _ = await center.post(topic, true).delivered()
    }
    return isLost.withLock { !$0 }
  }
}

extension CarriedValue {
  /// The value that the center of a ``Carriage`` carries: the `ServiceContext`, and the ``CarriageContext`` in it.
  public static var carriage: CarriedValue { CarriedValue(ServiceContext.$current) }
}

/// Reads and writes the metadata of messages for the program's `Instrument`.
struct MetadataAccess: Injector, Extractor {
  func inject(_ value: String, forKey key: String, into metadata: inout [String: String]) {
    metadata[key] = value
  }
  func extract(key: String, from metadata: [String: String]) -> String? { metadata[key] }
}
