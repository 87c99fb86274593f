import Foundation
import NIOCore
import NIOFoundationCompat

/// How the messages of a topic become bytes.
///
/// It is called on several threads at once. A message whose encoding throws stays in this process, and is
/// reported as `.kept`. Bytes whose decoding throws are skipped, and reported as `.skipped`. `ByteBuffer` is of
/// `NIOCore`, of the package swift-nio.
public protocol MessageCodec<Message>: Sendable {
  associatedtype Message: Sendable

  /// Appends the bytes of a message.
  func encode(_ message: Message, into bytes: inout ByteBuffer) throws

  /// Makes a message of all bytes.
  func decode(_ bytes: ByteBuffer) throws -> Message

  /// Makes the messages of one process that came in together, where that costs less than one by one.
  ///
  /// If it throws, or returns another number of messages, they are decoded one by one. The default does so,
  /// too.
  func decode(together bodies: [ByteBuffer]) throws -> [Message]
}

extension MessageCodec {
  /// Decodes one by one.
  public func decode(together bodies: [ByteBuffer]) throws -> [Message] { try bodies.map(decode) }
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

  /// Decodes them as one array: a decoder costs as much as a small message.
  public func decode(together bodies: [ByteBuffer]) throws -> [Message] {
    var array = ByteBufferAllocator().buffer(
      capacity: bodies.reduce(2) { $0 + $1.readableBytes + 1 })
    for (index, body) in bodies.enumerated() {
      array.writeInteger(UInt8(ascii: index == 0 ? "[" : ","))
      array.writeImmutableBuffer(body)
    }
    array.writeInteger(UInt8(ascii: "]"))
    return try decoder.decode(
      [Message].self, from: Data(buffer: array, byteTransferStrategy: .noCopy))
  }
}
