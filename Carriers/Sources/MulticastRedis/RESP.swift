import NIOCore

/// A value of Redis's protocol RESP3, as far as a publisher and subscriber meets it.
enum RESP: Equatable {
  case text(String)
  case error(String)
  case number(Int64)
  case bytes(ByteBuffer)
  case null
  case list([RESP])
  /// What the server tells without being asked.
  case push([RESP])

  var text: String? {
    switch self {
    case .text(let text): text
    case .bytes(let bytes): String(buffer: bytes)
    default: nil
    }
  }

  /// Why bytes are no RESP.
  struct Malformed: Error {}

  /// Writes a command: a list of bulk strings.
  static func write(_ words: [ByteBuffer], into bytes: inout ByteBuffer) {
    bytes.writeString("*\(words.count)\r\n")
    for word in words {
      bytes.writeString("$\(word.readableBytes)\r\n")
      bytes.writeImmutableBuffer(word)
      bytes.writeStaticString("\r\n")
    }
  }
}

/// Takes the bytes of a server apart. Nothing is kept but the bytes of a value that is not complete.
struct RESPDecoder: ByteToMessageDecoder {
  typealias InboundOut = RESP
  private static let depth = 8
  private static let limit = 1 << 30

  mutating func decode(
    context: ChannelHandlerContext, buffer: inout ByteBuffer
  ) throws -> DecodingState {
    var rest = buffer
    guard let value = try Self.read(&rest, depth: 0) else { return .needMoreData }
    buffer = rest
    context.fireChannelRead(wrapInboundOut(value))
    return .continue
  }

  static func read(_ bytes: inout ByteBuffer, depth: Int) throws -> RESP? {
    guard depth < Self.depth else { throw RESP.Malformed() }
    guard let line = line(&bytes) else {
      // Lines are short: names, numbers and sentences.
      if bytes.readableBytes > 65_536,
        bytes.readableBytesView.prefix(65_536).firstIndex(of: 10) == nil
      {
        throw RESP.Malformed()
      }
      return nil
    }
    guard let kind = line.first else { throw RESP.Malformed() }
    let rest = line.dropFirst()
    switch kind {
    case "+": return .text(String(rest))
    case "-": return .error(String(rest))
    case "_": return .null
    case "#", ",", "(": return .text(String(rest))
    case ":":
      guard let number = Int64(rest) else { throw RESP.Malformed() }
      return .number(number)
    case "$", "=", "!":
      guard let count = Int(rest), count <= limit else { throw RESP.Malformed() }
      guard count >= 0 else { return .null }
      guard bytes.readableBytes >= count + 2 else { return nil }
      guard let content = bytes.readSlice(length: count) else { return nil }
      bytes.moveReaderIndex(forwardBy: 2)
      return kind == "!" ? .error(String(buffer: content)) : .bytes(content)
    case "*", "~", ">", "%":
      guard let count = Int(rest), count <= 1 << 20 else { throw RESP.Malformed() }
      guard count >= 0 else { return .null }
      var values: [RESP] = []
      for _ in 0..<(kind == "%" ? 2 * count : count) {
        guard let value = try read(&bytes, depth: depth + 1) else { return nil }
        values.append(value)
      }
      return kind == ">" ? .push(values) : .list(values)
    default: throw RESP.Malformed()
    }
  }

  private static func line(_ bytes: inout ByteBuffer) -> String? {
    guard let end = bytes.readableBytesView.firstIndex(of: 0x0D),
      end + 1 < bytes.writerIndex
    else { return nil }
    let line = bytes.readString(length: end - bytes.readerIndex)
    bytes.moveReaderIndex(forwardBy: 2)
    return line
  }
}
