import Crypto

/// The contents of a record: messages that one process has posted to one topic in a row.
///
/// Numbers take seven bits per byte, the lowest first. Texts and bodies follow their size.
struct Frame {
  /// A process, from its start to its end, and one of its topics.
  struct Sender: Hashable, Sendable, CustomStringConvertible {
    let id: UInt64
    let name: String
    var carriage: UInt64 { id & ~Carriage.topicBits }
    var description: String { "\(name)#\(String(id, radix: 36))" }

    /// Returns the name that a frame contains: short, and in one line, because it is logged.
    static func name(_ text: String) -> String {
      let scalars = text.unicodeScalars.lazy.filter { !breaksLine($0) }
      return String(String.UnicodeScalarView(scalars.prefix(nameLimit)))
    }

    /// Whether the name is one that ``name(_:)`` returns. Looks at no more scalars than such a name has.
    fileprivate var hasValidName: Bool {
      let scalars = name.unicodeScalars
      return scalars.dropFirst(Self.nameLimit).isEmpty && !scalars.contains(where: Self.breaksLine)
    }

    private static let nameLimit = 63

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
  }

  struct Item {
    /// The number of messages in a row that have set off each other before this one.
    let hops: UInt16
    let metadata: [String: String]
    let body: ArraySlice<UInt8>
  }

  struct Malformed: Error, CustomStringConvertible {
    var description = "A record that no carriage has written."
  }

  /// The largest size of everything but the messages.
  static let headerLimit = 300 + signatureSize
  /// The largest number of messages in a record. This version writes fewer.
  static let itemLimit = 4_096
  /// The largest size of a key of the metadata.
  static let keyLimit = 256
  private static let magic = Array("MC".utf8)
  /// The format of this version, the oldest version whose readers understand it, and the oldest format that this
  /// version reads. A later format appends its additions after the items. Format 5 has appended the time.
  private static let format: (own: UInt8, oldest: UInt8, read: UInt8) = (5, 2, 4)

  let sender: Sender
  let version: UInt16
  /// The oldest version of a program that can read the record.
  let oldest: UInt16
  /// The number of the first message, counted for the sender and the topic.
  let first: UInt64
  /// The epoch of the log for which the record was signed; nil if it is not signed.
  let epoch: UInt64?
  var items: [Item] = []
  /// When the first message was posted, in milliseconds since 1970 by the clock of its sender; nil if an earlier version
  /// has written the record.
  let time: UInt64?

  /// How long ago the first message was posted, in milliseconds. Another machine's clock may be ahead.
  var age: UInt64? { time.map { max(wallClock, $0) - $0 } }

  /// Parses bytes that another program may have written.
  ///
  /// - Parameters:
  ///   - log: The log in which the record was.
  ///   - keys: The keys of the signatures that are accepted; nil for records without a signature.
  ///   - limit: The largest size of a record. Larger ones are rejected, because an empty item of three bytes takes a
  ///     hundred times as much memory after it is decoded.
  init(
    _ record: [UInt8], from log: Log, keys: [SymmetricKey?] = [nil], limit: Int = .max
  ) throws(Malformed) {
    guard record.count <= limit else {
      throw Malformed(description: "A record of \(record.count) bytes, and \(limit) are the most.")
    }
    // A carrier may return an empty record in place of one that is larger than its limit.
    guard !record.isEmpty else {
      throw Malformed(description: "A record without contents, or with more than \(limit) bytes.")
    }
    guard record.starts(with: Frame.magic), record.count > 4 else { throw Malformed() }
    let (bytes, epoch) = try Frame.open(record, from: log, keys)
    self.epoch = epoch
    var rest = bytes[...]
    let (format, readable) = (bytes[2], bytes[3])
    guard format >= Frame.format.read else { throw Malformed() }
    guard readable <= Frame.format.own else {
      throw Malformed(description: "A record of format \(format), which is too new.")
    }
    rest = rest.dropFirst(4)
    sender = Sender(id: try rest.number(), name: try rest.text())
    guard sender.hasValidName else { throw Malformed() }
    (version, oldest, first) = (try rest.number(), try rest.number(), try rest.number())
    let count: Int = try rest.number()
    // An item takes at least three bytes.
    guard first > 0, first < 1 << 62, (1...Frame.itemLimit).contains(count), count <= rest.count / 3
    else { throw Malformed() }
    items.reserveCapacity(count)
    for _ in 0..<count {
      let hops: UInt16 = try rest.number()
      var metadata: [String: String] = [:]
      for _ in 0..<(try rest.number() as Int) {
        let key = try rest.text()
        guard key.utf8.count <= Frame.keyLimit else { throw Malformed() }
        metadata[key] = try rest.text()
      }
      items.append(Item(hops: hops, metadata: metadata, body: try rest.chunk()))
    }
    time = format < 5 ? nil : try rest.number()
    guard rest.isEmpty || format > Frame.format.own else { throw Malformed() }
  }

  /// Writes a record.
  static func write(
    _ sender: Sender, version: UInt16, oldest: UInt16, _ packed: Outbox.Packed
  ) -> [UInt8] {
    var bytes = magic + [format.own, format.oldest]
    bytes.reserveCapacity(packed.items.reduce(headerLimit) { $0 + $1.count })
    bytes.append(number: sender.id)
    bytes.append(chunk: sender.name.utf8)
    let count = UInt64(packed.items.count)
    for number in [UInt64(version), UInt64(oldest), packed.first, count] {
      bytes.append(number: number)
    }
    for item in packed.items { bytes += item }
    bytes.append(number: packed.time)
    return bytes
  }

  /// Writes a message.
  static func item(
    hops: UInt16, _ metadata: [String: String], body: (inout [UInt8]) throws -> Void
  ) rethrows -> [UInt8] {
    var (bytes, content): ([UInt8], [UInt8]) = ([], [])
    bytes.append(number: hops)
    bytes.append(number: metadata.count)
    for text in metadata.lazy.flatMap({ [$0.key, $0.value] }) { bytes.append(chunk: text.utf8) }
    try body(&content)
    bytes.append(chunk: content)
    return bytes
  }
}

/// Returns a hash of a record without its signature, because the same messages may be signed for two logs.
func hash(_ record: [UInt8], isSigned: Bool) -> Int {
  let content = record.dropLast(isSigned ? Frame.signatureSize : 0)
  var hasher = Hasher()
  // An array would hash byte by byte.
  unsafe content.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  return hasher.finalize()
}

extension ArraySlice<UInt8> {
  fileprivate mutating func number<Number: FixedWidthInteger>() throws(Frame.Malformed) -> Number {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard let byte = popFirst() else { break }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { if let number = Number(exactly: number) { return number } else { break } }
    }
    throw Frame.Malformed()
  }

  fileprivate mutating func chunk() throws(Frame.Malformed) -> Self {
    let size: Int = try number()
    guard size <= count else { throw Frame.Malformed() }
    defer { self = dropFirst(size) }
    return prefix(size)
  }

  fileprivate mutating func text() throws(Frame.Malformed) -> String {
    guard let text = String(validating: try chunk(), as: UTF8.self) else { throw Frame.Malformed() }
    return text
  }
}

extension [UInt8] {
  mutating func append(number: some BinaryInteger) {
    append(UInt8(number & 0x7F) | (number < 0x80 ? 0 : 0x80))
    if number >= 0x80 { append(number: number >> 7) }
  }

  mutating func append(chunk: some Collection<UInt8>) {
    append(number: chunk.count)
    append(contentsOf: chunk)
  }
}
