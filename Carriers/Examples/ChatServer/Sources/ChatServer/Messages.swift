import Foundation
import Multicast

/// A message in a room.
struct Said: Codable, Sendable {
  /// An id that the page has chosen. If the page receives no answer and sends the message again, it is posted only
  /// once.
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
  /// Whether a server may have sent it. Any client of the engine can publish anything.
  var isSound: Bool {
    Said.isID(id) && text.utf8.count <= 4 * Said.textLimit && Member.isName(name)
  }
}

/// The topic of a room: its title.
struct RoomTopic: Codable, Sendable {
  let room: String
  let text: String
  let name: String

  static let textLimit = 200
  /// Whether a server may have sent it for a room. See ``Said/isSound``.
  func isSound(in room: String) -> Bool {
    self.room == room && text.utf8.count <= 4 * RoomTopic.textLimit && Member.isName(name)
  }
}

/// A person in a room. The browser's own id reserves the name, and is not sent to other browsers.
struct Member: Codable, Sendable, Hashable {
  let room: String
  let name: String
  let client: String

  /// Whether a person can have this name: 1 to 32 characters, none of which is a control character.
  static func isName(_ name: String) -> Bool {
    // First, because a long character takes long to find.
    guard name.utf8.count <= 128, (1...32).contains(name.count) else { return false }
    return name.unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control && $0 != "\u{FFFD}"
    }
  }
  static func isClient(_ client: String) -> Bool { (8...64).contains(client.utf8.count) }
  /// Whether a server may have sent it. See ``Said/isSound``.
  var isSound: Bool { Member.isName(name) && Member.isClient(client) }
}

/// The people who have come to a server or left it.
struct Attendance: Codable, Sendable {
  let node: String
  let server: String
  let address: String
  /// Whether this begins a list of all people at the server.
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
  /// The latest topic of a room. All processes agree on it.
  static func of(room: String) -> Self { Topic("topic of \(room)", keepsLatest: true) }
}
// The events for the browsers of a room, in the room's own center.
extension Topic where Message == ServerEvent {
  static var event: Self { Topic("event") }
}

func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
