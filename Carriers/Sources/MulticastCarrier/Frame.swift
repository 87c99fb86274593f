/// What one process has posted to one topic in a row: the contents of a record.
struct Frame {
  /// A process, from its start to its end, and one of its topics.
  struct Sender: Hashable, Sendable, CustomStringConvertible {
    let id: UInt64
    let name: String
    var description: String { "\(name)#\(String(id, radix: 36))" }
  }

  struct Item {
    /// How many messages in a row have set off each other before it.
    let hops: UInt16
    let metadata: [String: String]
    let body: ArraySlice<UInt8>
  }

  struct Malformed: Error {}

  /// The most that a header takes.
  static let headerLimit = 300
  private static let magic: UInt32 = 0x4D43_0401
  /// The least that an item takes.
  private static let itemSize = 7

  let sender: Sender
  let version: UInt16
  /// The oldest version of a program that can read it.
  let oldest: UInt16
  /// The number of the first message among those of the sender to the topic.
  let first: UInt64
  var items: [Item]

  /// Takes bytes apart that anybody may have written.
  init(_ bytes: [UInt8]) throws(Malformed) {
    var rest = bytes[...]
    guard try rest.integer() == Frame.magic else { throw Malformed() }
    let id: UInt64 = try rest.integer()
    sender = Sender(id: id, name: try rest.text(try rest.integer() as UInt8))
    version = try rest.integer()
    oldest = try rest.integer()
    first = try rest.integer()
    let count: UInt32 = try rest.integer()
    guard first > 0, first < 1 << 62, count > 0, count <= rest.count / Frame.itemSize else {
      throw Malformed()
    }
    var items: [Item] = []
    items.reserveCapacity(Int(count))
    for _ in 0..<count { items.append(try Item(&rest)) }
    guard rest.isEmpty else { throw Malformed() }
    self.items = items
  }

  /// Writes a record.
  static func write(
    _ sender: Sender, version: UInt16, oldest: UInt16, _ packed: Outbox.Packed
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(packed.items.reduce(headerLimit) { $0 + $1.count })
    bytes.append(integer: magic)
    bytes.append(integer: sender.id)
    bytes.append(UInt8(sender.name.utf8.count))
    bytes.append(contentsOf: sender.name.utf8)
    bytes.append(integer: version)
    bytes.append(integer: oldest)
    bytes.append(integer: packed.first)
    bytes.append(integer: UInt32(packed.items.count))
    for item in packed.items { bytes.append(contentsOf: item) }
    return bytes
  }

  /// Writes a message. Metadata is cut off at 255 pairs of up to 64 KiB.
  static func item(
    hops: UInt16, _ metadata: [String: String], body: (inout [UInt8]) throws -> Void
  ) rethrows -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: hops)
    let pairs = metadata.filter { max($0.key.utf8.count, $0.value.utf8.count) < 65_536 }.prefix(255)
    bytes.append(UInt8(pairs.count))
    for text in pairs.lazy.flatMap({ [$0.key, $0.value] }) {
      bytes.append(integer: UInt16(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
    let place = bytes.count
    bytes.append(integer: UInt32(0))
    try body(&bytes)
    let size = UInt32(bytes.count - place - 4)
    for index in 0..<4 { bytes[place + index] = UInt8(size >> (24 - 8 * index) & 0xFF) }
    return bytes
  }
}

extension Frame.Item {
  fileprivate init(_ bytes: inout ArraySlice<UInt8>) throws(Frame.Malformed) {
    hops = try bytes.integer()
    var metadata: [String: String] = [:]
    for _ in 0..<(try bytes.integer() as UInt8) {
      let key = try bytes.text(try bytes.integer() as UInt16)
      metadata[key] = try bytes.text(try bytes.integer() as UInt16)
    }
    self.metadata = metadata
    body = try bytes.take(try bytes.integer() as UInt32)
  }
}

extension ArraySlice<UInt8> {
  fileprivate mutating func take(_ size: some BinaryInteger) throws(Frame.Malformed) -> Self {
    guard size <= count else { throw Frame.Malformed() }
    defer { self = dropFirst(Int(size)) }
    return prefix(Int(size))
  }

  fileprivate mutating func integer<Number: FixedWidthInteger>() throws(Frame.Malformed) -> Number {
    try take(MemoryLayout<Number>.size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }

  fileprivate mutating func text(_ size: some BinaryInteger) throws(Frame.Malformed) -> String {
    guard let text = String(validating: try take(size), as: UTF8.self) else {
      throw Frame.Malformed()
    }
    return text
  }
}

extension [UInt8] {
  fileprivate mutating func append<Number: FixedWidthInteger>(integer: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: integer >> shift))
    }
  }
}
