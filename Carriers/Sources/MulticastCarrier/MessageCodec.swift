import Foundation

/// Converts the messages of a topic to bytes and back. Several threads may call it at the same time.
public protocol MessageCodec<Message>: Sendable {
  /// The messages of the topic.
  associatedtype Message: Sendable

  /// Appends the bytes of a message. If it throws, the message stays in this process, and is reported as `kept` with
  /// `CarrierError.notEncodable`.
  func encode(_ message: Message, into bytes: inout [UInt8]) throws

  /// Returns one message for each body of a record, in order. Any process may have written the record.
  ///
  /// If it throws, or returns another number of messages, it is called again for each body alone.
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

  /// Decodes all bodies as one array, because a decoder costs as much as a small message.
  public func decode(_ bodies: [ArraySlice<UInt8>]) throws -> [Message] {
    var array = Array("[".utf8)
    for (index, body) in bodies.enumerated() {
      if index > 0 { array.append(UInt8(ascii: ",")) }
      array += body
    }
    array.append(UInt8(ascii: "]"))
    return try decoder.decode([Message].self, from: Data(array))
  }
}
