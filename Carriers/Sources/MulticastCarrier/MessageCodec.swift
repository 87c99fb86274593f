import Foundation

/// How the messages of a topic become bytes. It is called on several threads at once.
public protocol MessageCodec<Message>: Sendable {
  /// The messages of the topic.
  associatedtype Message: Sendable

  /// Appends the bytes of a message.
  func encode(_ message: Message, into bytes: inout [UInt8]) throws

  /// Makes a message of all bytes, which anybody may have written.
  func decode(_ bytes: ArraySlice<UInt8>) throws -> Message

  /// Makes the messages of one record, where that costs less than one by one.
  ///
  /// If it throws, or returns another number of messages, they are decoded one by one.
  func decode(together bodies: [ArraySlice<UInt8>]) throws -> [Message]
}

extension MessageCodec {
  /// Decodes one by one.
  public func decode(together bodies: [ArraySlice<UInt8>]) throws -> [Message] {
    try bodies.map(decode)
  }
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

  /// Decodes a message.
  public func decode(_ bytes: ArraySlice<UInt8>) throws -> Message {
    try decoder.decode(Message.self, from: Data(bytes))
  }

  /// Decodes them as one array: a decoder costs as much as a small message.
  public func decode(together bodies: [ArraySlice<UInt8>]) throws -> [Message] {
    let array = Data("[".utf8) + bodies.joined(separator: ",".utf8) + Data("]".utf8)
    return try decoder.decode([Message].self, from: array)
  }
}
