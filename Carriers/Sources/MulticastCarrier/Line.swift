import Multicast
import Synchronization

/// A topic that is carried, without the type of its messages.
final class Line: Sendable {
  /// What has come in with one record, and may be delivered.
  struct Delivery: Sendable {
    let sender: String
    let items: [Frame.Item]
  }

  /// Decodes and posts, and returns when all handlers have run. Returns how many could not be decoded, and why.
  typealias Deliver = @Sendable (Delivery, Line) async -> (count: UInt64, reason: String)?

  struct State {
    var observation: TopicObservation?
    var reader: Task<Void, Never>?
    var isStopped = false
    var latest = LatestRule()
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
  let state = Mutex(State())

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

  func noteOwn() { state.withLock { $0.latest.noteOwn() } }
  func noteCameIn() { state.withLock { $0.latest.noteCameIn() } }
  func noteStored(_ packed: Outbox.Packed, at place: Position) {
    state.withLock { $0.latest.noteStored(packed.first + UInt64(packed.count) - 1, at: place) }
  }
  /// Returns whether the last of them is to be posted again.
  func noteReturn(_ first: UInt64, _ count: Int) -> Bool {
    state.withLock { $0.latest.noteReturn(first + UInt64(count) - 1) } && log.keepsLatest
  }
  func beginAnew() { state.withLock { $0.latest.beginAnew() } }
  func isAhead(of place: Position) -> Bool {
    log.keepsLatest && state.withLock { $0.latest.isAhead(of: place) }
  }

  func stop() {
    let (observation, reader) = state.withLock { state in
      state.isStopped = true
      return (state.observation.take(), state.reader.take())
    }
    observation?.cancel()
    reader?.cancel()
  }
}
