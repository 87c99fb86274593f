import Foundation

/// What is known about a message before it is decoded: one line of JSON, in front of the message.
struct Envelope: Codable, Equatable {
  /// The version of the envelope itself.
  static let format = 1

  enum Kind: String, Codable {
    case message
    /// A process is there, or there again. The others answer with their place.
    case hello
    /// The number of the last message of a process.
    case place
  }

  var format = Envelope.format
  var kind: Kind
  /// The process, from its start to its end.
  var node: String
  /// Counts the messages of the process. A hello and a place have the number of the last one.
  var sequence: UInt64
  /// What the message is, and in which version.
  var type = ""
  var version = 0

  func payload(_ message: [UInt8] = []) -> [UInt8] {
    // An envelope has nothing in it that JSON cannot express.
    (try? JSONEncoder().encode(self)).map { Array($0) + [0x0A] + message } ?? []
  }

  /// Takes a payload apart. What is no envelope of this format throws a sentence that says so.
  static func open(_ payload: [UInt8]) throws(Unreadable) -> (Envelope, ArraySlice<UInt8>) {
    struct Format: Codable { var format: Int }
    guard let end = payload.firstIndex(of: 0x0A) else { throw Unreadable("It has no envelope.") }
    let header = Data(payload[..<end])
    guard let format = try? JSONDecoder().decode(Format.self, from: header).format else {
      throw Unreadable("It has no envelope.")
    }
    guard format == Envelope.format else {
      throw Unreadable(
        "Its envelope has format \(format), and this program knows \(Envelope.format).")
    }
    guard let envelope = try? JSONDecoder().decode(Envelope.self, from: header) else {
      throw Unreadable("Its envelope cannot be decoded.")
    }
    return (envelope, payload[(end + 1)...])
  }
}

struct Unreadable: Error {
  let reason: String
  init(_ reason: String) { self.reason = String(reason.prefix(200)) }
}
