import Multicast

/// What goes with a message from the post to the handlers, in this process and in the others.
///
/// A center has to carry it, so that handlers in actors and queues have it, and so that a carriage can tell
/// what it has brought from what is to leave: `MulticastCenter(carrying: .carriage)`.
public struct CarriageContext: Sendable {
  /// The context of the post, or of the handler, that runs in this task.
  @TaskLocal public static var current = CarriageContext()

  /// Metadata of the message, such as a trace context. It travels in the header.
  public internal(set) var metadata: [String: String] = [:]

  /// The process whose message set off this call; nil if no message of another process did.
  public var sender: Identity? { mark?.cause?.sender }

  /// The message that a carriage posts with this context.
  var mark: Mark?

  /// Calls a body whose posts have this metadata.
  ///
  /// - Returns: What the body returns.
  @discardableResult
  public static func with<Result>(
    metadata: [String: String], _ body: () throws -> Result
  ) rethrows -> Result {
    var context = current
    context.metadata = metadata
    return try $current.withValue(context, operation: body)
  }

  /// Calls a body that awaits, such as one with `Carriage.post`, and whose posts have this metadata.
  ///
  /// - Returns: What the body returns.
  @discardableResult
  nonisolated(nonsending) public static func with<Result>(
    metadata: [String: String], _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    var context = current
    context.metadata = metadata
    return try await $current.withValue(context, operation: body)
  }
}

extension CarriedValue {
  /// The value that the center of a ``Carriage`` carries.
  public static var carriage: CarriedValue { CarriedValue(CarriageContext.$current) }
}
