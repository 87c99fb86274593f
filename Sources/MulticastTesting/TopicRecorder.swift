import Multicast
import Testing

/// Records the messages of a topic, in the order in which they are posted.
///
/// <!-- example: in Testing -->
/// ```swift
/// let logins = TopicRecorder(center, .userLogin)
/// MailService(center: center).fetch()  // posts from a task of its own
/// #expect(try await logins.next().id == 19000)
/// ```
///
/// A recorder has no home: it records on the thread that posts. If the topic keeps its latest message, it records that
/// first. It records as long as somebody holds it.
public struct TopicRecorder<Message: Sendable>: Sendable {
  private let topic: Topic<Message>
  private let recording = Recording<Message>()

  /// Begins to record.
  ///
  /// - Parameters:
  ///   - center: The center.
  ///   - topic: The topic. It need not have observers.
  ///   - isExhaustive: Whether a message that nobody has taken with ``next()`` fails the test at its end. The test
  ///     needs the trait `.ownCenter`.
  ///   - sourceLocation: The place that such a failure names.
  public init(
    _ center: MulticastCenter, _ topic: Topic<Message>, exhaustive isExhaustive: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    self.topic = topic
    center.observe(topic, owner: recording) { recording, message in recording.add(message) }
    if isExhaustive {
      TestScope.check(recording, named: "messages of \(topic)", sourceLocation)
    }
  }

  /// All messages that were recorded, those that were taken included.
  public var all: [Message] { recording.all }

  /// Takes the first message that nobody has taken. Waits until there is one.
  ///
  /// - Throws: ``NothingRecorded`` if the task is cancelled meanwhile, as by a test's time limit.
  public func next() async throws -> Message {
    guard let message = await recording.next(where: { _ in true }) else {
      throw NothingRecorded("a message of \(topic)", in: recording)
    }
    return message
  }
}
