import Foundation
import Multicast

/// What somebody said in a room.
struct Said: Codable, Sendable {
  let id: String
  let room: String
  let name: String
  let text: String
  /// In milliseconds since 1970.
  let time: Int64
}

/// What a room is about. Of two, the later one holds, and of two at one time, the one of the greater name.
struct RoomTopic: Codable, Sendable {
  let room: String
  let text: String
  let name: String
  let time: Int64

  func replaces(_ other: RoomTopic?) -> Bool {
    guard let other else { return true }
    return (time, name) > (other.time, other.name)
  }
}

/// Somebody in a room. The browser's own id holds the name, and is shown to no other browser.
struct Member: Codable, Sendable, Hashable {
  let room: String
  let name: String
  let client: String
}

/// All that the others need to know of a process: who is there late asks for nothing.
struct NodeState: Codable, Sendable {
  let node: String
  let name: String
  let address: String
  let members: [Member]
  let topics: [RoomTopic]
  /// Whether the process ends with this.
  let leaves: Bool
}

// The topics that are carried between the processes.
extension Topic where Message == Said {
  static var said: Self { Topic("said") }
}
extension Topic where Message == NodeState {
  static var node: Self { Topic("node") }
}
// The same message tells the room itself, which keeps it for those who join late.
extension Topic where Message == RoomTopic {
  static var topicChange: Self { Topic("topicChange") }
  static var current: Self { Topic("current", keepsLatest: true) }
}

func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
