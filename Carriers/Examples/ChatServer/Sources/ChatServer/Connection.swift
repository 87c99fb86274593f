import Foundation
import Multicast
import Synchronization

/// A server-sent event, made once for all who get it.
struct ServerEvent: Sendable {
  let text: String
  /// Whether it is the last one.
  var ends = false

  init(_ name: String, id: String? = nil, _ data: some Encodable) {
    // JSON has no line breaks, so that the data is one line. What is sent here can be encoded.
    let json =
      (try? JSONEncoder().encode(data)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    text = (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(json)\n\n"
  }
}

/// A browser that listens to a room.
///
/// A slow reader has a bounded number of events waiting. The oldest ones make room, and it is told how many
/// they were.
actor Connection {
  static let capacity = 1_024

  nonisolated let member: Member
  nonisolated let events: AsyncStream<ServerEvent>
  private let waiting: AsyncStream<ServerEvent>.Continuation
  private let missed = Mutex(0)

  /// - Parameter events: What the browser gets first: fewer than `capacity`.
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

  /// Ends the stream after what waits.
  nonisolated func end() { waiting.finish() }

  /// How many events have been given up since the last call.
  nonisolated func takeMissed() -> Int {
    missed.withLock { missed in
      defer { missed = 0 }
      return missed
    }
  }
}
