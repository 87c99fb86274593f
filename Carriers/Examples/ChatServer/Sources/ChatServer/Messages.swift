import Foundation
import Multicast

/// What somebody said in a room.
struct Said: Codable, Sendable {
  /// The page's own id: a message that it sends again, because it has heard no answer, is said once.
  let id: String
  let room: String
  let name: String
  let text: String
  /// In milliseconds since 1970. It is shown, and decides nothing.
  let time: Int64

  static let textLimit = 2_000
  static func isID(_ id: String) -> Bool {
    (8...64).contains(id.utf8.count) && id.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
  /// Whether a server may have sent it: whoever can publish to the engine can say anything.
  var isSound: Bool {
    Said.isID(id) && text.utf8.count <= 4 * Said.textLimit && name.utf8.count <= 128
  }
}

/// What a room is about.
struct RoomTopic: Codable, Sendable {
  let room: String
  let text: String
  let name: String

  static let textLimit = 200
  /// Whether a server may have sent it for a room, as ``Said/isSound``.
  func isSound(in room: String) -> Bool {
    self.room == room && text.utf8.count <= 4 * RoomTopic.textLimit && name.utf8.count <= 128
  }
}

/// Somebody in a room. The browser's own id holds the name, and is shown to no other browser.
struct Member: Codable, Sendable, Hashable {
  let room: String
  let name: String
  let client: String
}

/// Who has come to a server and left it.
struct Attendance: Codable, Sendable {
  let node: String
  let server: String
  let address: String
  /// Whether this begins a list of all who are there.
  var begins = false
  var came: [Member] = []
  var gone: [Member] = []
}

// The topics that are carried between the processes.
extension Topic where Message == Said {
  static var said: Self { Topic("said") }
}
extension Topic where Message == Attendance {
  static var attendance: Self { Topic("attendance") }
}
extension Topic where Message == RoomTopic {
  /// Of several, all processes choose the same latest one.
  static func of(room: String) -> Self { Topic("topic of \(room)", keepsLatest: true) }
}
// What is told to the browsers of a room, in the room's own center.
extension Topic where Message == ServerEvent {
  static var event: Self { Topic("event") }
}

func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
