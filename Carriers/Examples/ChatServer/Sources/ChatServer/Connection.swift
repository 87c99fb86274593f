import Foundation
import Multicast
import Synchronization

/// A server-sent event, encoded once for all browsers that receive it.
struct ServerEvent: Sendable {
  let text: String
  /// Whether it is the last event of the stream.
  var ends = false

  init(_ name: String, id: String? = nil, _ data: some Encodable) {
    // JSON has no line breaks, so the data is one line. Every value that is sent here can be encoded.
    let json =
      (try? JSONEncoder().encode(data)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    text = (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(json)\n\n"
  }
}

/// A browser that listens to a room.
///
/// The number of waiting events is bounded. If the browser reads slowly, the oldest events are dropped, and the browser
/// receives their number.
actor Connection {
  static let capacity = 1_024

  nonisolated let member: Member
  nonisolated let events: AsyncStream<ServerEvent>
  private let waiting: AsyncStream<ServerEvent>.Continuation
  private let missed = Mutex(0)

  /// - Parameter events: The first events for the browser, fewer than `capacity`.
  init(_ member: Member, first events: [ServerEvent]) {
    self.member = member
    (self.events, waiting) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingNewest(Connection.capacity))
    for event in events { waiting.yield(event) }
  }

  func add(_ event: ServerEvent) {
    if case .dropped = waiting.yield(event) { missed.withLock { $0 += 1 } }
    if event.ends { end() }
  }

  /// Ends the stream after the waiting events.
  nonisolated func end() { waiting.finish() }

  /// Returns the number of events that have been dropped since the last call.
  nonisolated func takeMissed() -> Int {
    missed.withLock { missed in
      defer { missed = 0 }
      return missed
    }
  }
}
