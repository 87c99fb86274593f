import Multicast
import Testing

/// Records the messages of a topic, in the order in which they are posted.
///
/// <!-- example: in Testing -->
/// ```swift
/// let logins = TopicRecorder(center, .userLogin)
/// // Posts from a task of its own.
/// MailService(center: center).fetch()
/// #expect(try await logins.next().id == 19000)
/// ```
///
/// A recorder is a handler without a home: it records on the thread that posts. `Posted.clients`, a
/// ``DeliveryRecorder`` and the wiring count it, as `Recording`. If the topic keeps its latest message, it records
/// that first, and another thread may record a message, perhaps after `post` has returned. It records as long as
/// something retains it, and an exhaustive one until the test ends, unless all handlers of the topic are removed.
public struct TopicRecorder<Message: Sendable>: Sendable {
  private let topic: Topic<Message>
  private let recording = Recording<Message>()

  /// Begins to record.
  ///
  /// - Parameters:
  ///   - center: The center.
  ///   - topic: The topic. It does not have to have handlers.
  ///   - isExhaustive: Whether a message that is not taken with ``next()`` fails the test at its end. Use it in
  ///     a test with `.ownCenter`, or in the body of an exploration. Elsewhere, it fails the test. Outside
  ///     Swift Testing, and so in a detached task or on a queue, it stops the program.
  ///   - sourceLocation: The source location that such a failure names.
  public init(
    _ center: MulticastCenter, _ topic: Topic<Message>, exhaustive isExhaustive: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    self.topic = topic
    center.observe(topic, owner: recording) { recording, message in recording.add(message) }
    if isExhaustive {
      TestScope.check(recording, of: center, named: "messages of \(topic)", sourceLocation)
    }
  }

  /// All recorded messages, even those that were taken.
  ///
  /// - Complexity: O(*n*) for *n* recorded messages.
  public var all: [Message] { recording.all }

  /// Takes the first message that was not taken, and waits until there is one.
  ///
  /// - Returns: The message.
  /// - Throws: ``NothingRecorded`` if the task is cancelled in the meantime, for example by a test's time
  ///   limit.
  /// - Complexity: Amortized O(1). While *w* tasks wait, each message takes O(*w*).
  nonisolated(nonsending) public func next() async throws -> Message {
    try await recording.next("a message of \(topic)")
  }
}
