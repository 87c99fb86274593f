import Multicast
import Synchronization

/// A topic that is carried, without the type of its messages.
final class Line: Sendable {
  /// Decodes and posts what one record has brought, and returns when all handlers have run.
  typealias Deliver = @Sendable (Carriage, Line, Frame) async -> Void

  private struct State {
    var latest = LatestRule()
    var position: Position?
    /// What ends it; nil when it has ended.
    var ends: [@Sendable () -> Void]? = []
  }

  let topic: String
  let log: Log
  let sender: Frame.Sender
  let version: UInt16
  let oldest: UInt16
  let start: Carriage.Start
  /// The `MessageCodec` of the topic.
  let codec: any Sendable
  /// Nil for a topic of which nothing is received.
  let deliver: Deliver?
  /// Publishes the latest message that the center has. At home.
  let publishLatest: @Sendable (Carriage, Line) -> Void
  private let state = Mutex(State())

  init(
    topic: String, log: Log, sender: Frame.Sender, version: UInt16, oldest: UInt16,
    start: Carriage.Start, codec: any Sendable, deliver: Deliver?,
    publishLatest: @escaping @Sendable (Carriage, Line) -> Void
  ) {
    (self.topic, self.log, self.sender, self.start) = (topic, log, sender, start)
    (self.version, self.oldest, self.codec) = (version, oldest, codec)
    (self.deliver, self.publishLatest) = (deliver, publishLatest)
  }

  var type: String { log.type }

  /// The place behind the last record that was handled here.
  var position: Position? {
    get { state.withLock { $0.position } }
    set { state.withLock { $0.position = newValue } }
  }

  /// Asks the rule, or tells it what has happened.
  func latest<Result: Sendable>(_ body: (inout LatestRule) -> Result) -> Result {
    state.withLock { body(&$0.latest) }
  }

  /// Calls a body when the line ends, at once if it has ended.
  func atEnd(_ body: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      state.ends?.append(body)
      return state.ends == nil
    }
    if hasEnded { body() }
  }

  func end() { state.withLock { $0.ends.take() }?.forEach { $0() } }
}
