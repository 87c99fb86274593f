import Foundation
import NIOCore
import NIOFoundationCompat

/// How the messages of a topic become bytes.
public protocol MessageCodec<Message>: Sendable {
  associatedtype Message: Sendable

  /// Appends the bytes of a message.
  func encode(_ message: Message, into bytes: inout ByteBuffer) throws

  /// Makes a message of all bytes.
  func decode(_ bytes: ByteBuffer) throws -> Message
}

/// Encodes messages as JSON.
public struct JSONCodec<Message: Codable & Sendable>: MessageCodec {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  /// Creates a codec.
  public init() {}

  /// Appends the message in JSON. A message that has no JSON, such as one with `Double.nan`, throws.
  public func encode(_ message: Message, into bytes: inout ByteBuffer) throws {
    bytes.writeBytes(try encoder.encode(message))
  }

  /// Decodes JSON.
  public func decode(_ bytes: ByteBuffer) throws -> Message {
    try decoder.decode(Message.self, from: Data(buffer: bytes, byteTransferStrategy: .noCopy))
  }
}
