import Foundation

/// How the messages of a topic become bytes. It is called on several threads at once.
public protocol MessageCodec<Message>: Sendable {
  /// The messages of the topic.
  associatedtype Message: Sendable

  /// Appends the bytes of a message.
  func encode(_ message: Message, into bytes: inout [UInt8]) throws

  /// Makes one message of each body, in order: those of one record, which anybody may have written.
  ///
  /// If it throws, or returns another number of messages, it is called for each body alone.
  func decode(_ bodies: [ArraySlice<UInt8>]) throws -> [Message]
}

/// Encodes messages as JSON.
public struct JSONCodec<Message: Codable & Sendable>: MessageCodec {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  /// Creates a codec.
  public init() {}

  /// Appends the message as JSON.
  public func encode(_ message: Message, into bytes: inout [UInt8]) throws {
    bytes.append(contentsOf: try encoder.encode(message))
  }

  /// Decodes them as one array: a decoder costs as much as a small message.
  public func decode(_ bodies: [ArraySlice<UInt8>]) throws -> [Message] {
    let array = bodies.reduce(into: Array("[".utf8)) { $0 += $1 + Array(",".utf8) }
    return try decoder.decode([Message].self, from: Data(array.dropLast() + Array("]".utf8)))
  }
}
