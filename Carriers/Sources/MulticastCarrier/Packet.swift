import NIOCore

/// What travels as one payload: who sends it, and behind that what it says, at least one content. The body of
/// a message is read by its codec only.
package struct Packet: Sendable, Equatable {
  /// The version of the format.
  static let format: UInt8 = 3
  static let mark: UInt8 = 0x4D

  package var sender: Identity
  package var contents: [Content]

  package enum Content: Sendable, Equatable {
    /// A message of the sender, with its number among those of its topic.
    case message(Envelope, sequence: UInt64, after: [Identity: UInt64])
    /// The latest value of a topic, whoever of the processes posted it.
    case latest(Envelope, Stamp)
    /// The sender is there, or there again. The others answer with `beat`.
    case hello(Places)
    /// What the sender has published so far.
    case beat(Places)
    /// The sender ends.
    case bye(Places)
    /// Asks for messages of a topic again.
    case ask(type: String, ClosedRange<UInt64>, nonce: UInt64)
    /// Ends the answer to `ask`.
    case answer(type: String, nonce: UInt64, Answer)
    /// Asks for the latest value of a topic.
    case askLatest(type: String)
  }

  package struct Answer: Sendable, Equatable {
    /// The number of the last message of the topic.
    var last: UInt64
    /// Up to here, all that the sender still has was sent.
    var through: UInt64
    /// Of what was asked for, the sender has no more than what follows this number.
    var lostThrough: UInt64
  }

  package init(sender: Identity, _ contents: Content...) {
    self.sender = sender
    self.contents = contents
  }
}

/// A message on its way, without the number that its sender gave it.
package struct Envelope: Sendable, Equatable {
  /// What the message is called outside of a program.
  package var type: String
  package var version: UInt32 = 1
  /// The oldest version of a program that can read this message.
  package var oldest: UInt32 = 1
  package var origin = Origin(root: 0, hops: 0)
  package var metadata: [String: String] = [:]
  package var body: ByteBuffer

  /// What it counts where it waits.
  var cost: Int {
    let own = body.readableBytes + Carriage.overhead
    // Asked for each message several times, and most have none.
    guard !metadata.isEmpty else { return own }
    return metadata.reduce(own) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }

  /// Creates an envelope of the first version.
  package init(type: String, body: ByteBuffer) {
    self.type = type
    self.body = body
  }
}

/// The post at the beginning of a chain of messages that set off each other, across processes.
package struct Origin: Sendable, Equatable {
  var root: UInt64
  /// How often the chain went from one process to another.
  var hops: UInt32
}

/// The order of the values of a topic that keeps its latest: the higher counter wins, and then the greater
/// identity.
package struct Stamp: Sendable, Hashable, Comparable {
  var counter: UInt64
  var author: Identity

  package static func < (one: Self, other: Self) -> Bool {
    (one.counter, one.author) < (other.counter, other.author)
  }
}

/// The number of the last message of each topic, and the stamp of each latest value.
package struct Places: Sendable, Equatable {
  var last: [String: UInt64] = [:]
  var latest: [String: Stamp] = [:]
}

/// Why a payload cannot be used, in a sentence.
package struct Unreadable: Error, Equatable {
  let reason: String
  init(_ reason: String) { self.reason = String(reason.prefix(200)) }
}

// MARK: - Writing

extension Packet {
  package func payload() -> ByteBuffer {
    var bytes = Packet.header(of: sender)
    for content in contents { bytes.write(content) }
    return bytes
  }

  /// What each payload of a sender begins with.
  static func header(of sender: Identity) -> ByteBuffer {
    var bytes = ByteBuffer()
    bytes.writeMultipleIntegers(Packet.mark, Packet.format)
    bytes.write(sender)
    return bytes
  }

  /// A payload of one content.
  static func payload(_ header: ByteBuffer, _ content: Content) -> ByteBuffer {
    let body = content.envelope?.body.readableBytes ?? 0
    var bytes = ByteBufferAllocator().buffer(capacity: header.readableBytes + 128 + body)
    bytes.writeImmutableBuffer(header)
    bytes.write(content)
    return bytes
  }
}

extension Packet.Content {
  fileprivate var envelope: Envelope? {
    switch self {
    case .message(let envelope, _, _), .latest(let envelope, _): envelope
    default: nil
    }
  }

  fileprivate var kind: UInt8 {
    switch self {
    case .message: 0
    case .latest: 1
    case .hello: 2
    case .beat: 3
    case .bye: 4
    case .ask: 5
    case .answer: 6
    case .askLatest: 7
    }
  }
}

extension ByteBuffer {
  fileprivate mutating func write(_ content: Packet.Content) {
    writeInteger(content.kind)
    switch content {
    case .message(let envelope, let sequence, let after):
      writeInteger(sequence)
      writeCount(after.count)
      for (peer, sequence) in after {
        write(peer)
        writeInteger(sequence)
      }
      write(envelope)
    case .latest(let envelope, let stamp):
      write(stamp)
      write(envelope)
    case .hello(let places), .beat(let places), .bye(let places): write(places)
    case .ask(let type, let range, let nonce):
      write(type)
      writeMultipleIntegers(range.lowerBound, range.upperBound, nonce)
    case .answer(let type, let nonce, let answer):
      write(type)
      writeMultipleIntegers(nonce, answer.last, answer.through, answer.lostThrough)
    case .askLatest(let type): write(type)
    }
  }

  fileprivate mutating func writeCount(_ count: Int) {
    writeInteger(UInt32(clamping: count))
  }

  fileprivate mutating func write(_ text: String) {
    writeCount(text.utf8.count)
    writeString(text)
  }

  fileprivate mutating func write(_ identity: Identity) {
    write(identity.name)
    writeInteger(identity.start)
  }

  fileprivate mutating func write(_ stamp: Stamp) {
    writeInteger(stamp.counter)
    write(stamp.author)
  }

  fileprivate mutating func write(_ places: Places) {
    writeCount(places.last.count)
    for (type, sequence) in places.last {
      write(type)
      writeInteger(sequence)
    }
    writeCount(places.latest.count)
    for (type, stamp) in places.latest {
      write(type)
      write(stamp)
    }
  }

  fileprivate mutating func write(_ envelope: Envelope) {
    write(envelope.type)
    writeMultipleIntegers(
      envelope.version, envelope.oldest, envelope.origin.root, envelope.origin.hops)
    writeCount(envelope.metadata.count)
    for (key, value) in envelope.metadata {
      write(key)
      write(value)
    }
    writeCount(envelope.body.readableBytes)
    writeImmutableBuffer(envelope.body)
  }
}

// MARK: - Reading

extension Packet {
  /// Takes a payload apart. Throws a sentence if it is none of this format.
  package init(_ payload: ByteBuffer) throws(Unreadable) {
    var bytes = payload
    guard let (mark, format) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self),
      mark == Packet.mark
    else { throw Unreadable("It has no header.") }
    guard format == Packet.format else {
      throw Unreadable("Its header has format \(format), and this program knows \(Packet.format).")
    }
    guard let sender = bytes.readIdentity() else { throw Packet.broken }
    var contents: [Content] = []
    repeat {
      guard let content = Content(&bytes) else { throw Packet.broken }
      contents.append(content)
    } while bytes.readableBytes > 0
    (self.sender, self.contents) = (sender, contents)
  }

  private static var broken: Unreadable { Unreadable("It cannot be taken apart.") }
}

extension Packet.Content {
  fileprivate init?(_ bytes: inout ByteBuffer) {
    guard let kind = bytes.readInteger(as: UInt8.self) else { return nil }
    switch kind {
    case 0:
      guard let sequence = bytes.readSequence(), sequence > 0,
        let after = bytes.readPairs({ $0.readIdentity() }, { $0.readSequence() }),
        let envelope = bytes.readEnvelope()
      else { return nil }
      self = .message(envelope, sequence: sequence, after: after)
    case 1:
      guard let stamp = bytes.readStamp(), let envelope = bytes.readEnvelope() else { return nil }
      self = .latest(envelope, stamp)
    case 2, 3, 4:
      guard
        let last = bytes.readPairs({ $0.readText() }, { $0.readSequence() }),
        let latest = bytes.readPairs({ $0.readText() }, { $0.readStamp() })
      else { return nil }
      let places = Places(last: last, latest: latest)
      self = kind == 2 ? .hello(places) : kind == 3 ? .beat(places) : .bye(places)
    case 5:
      guard let type = bytes.readText(),
        let from = bytes.readSequence(), let through = bytes.readSequence(),
        let nonce = bytes.readInteger(as: UInt64.self), from > 0, from <= through
      else { return nil }
      self = .ask(type: type, from...through, nonce: nonce)
    case 6:
      guard let type = bytes.readText(),
        let nonce = bytes.readInteger(as: UInt64.self), let last = bytes.readSequence(),
        let through = bytes.readSequence(), let lost = bytes.readSequence()
      else { return nil }
      self = .answer(
        type: type, nonce: nonce, .init(last: last, through: through, lostThrough: lost))
    case 7:
      guard let type = bytes.readText() else { return nil }
      self = .askLatest(type: type)
    default: return nil
    }
  }
}

extension ByteBuffer {
  fileprivate mutating func readText() -> String? {
    guard let count = readInteger(as: UInt32.self) else { return nil }
    return readString(length: Int(count))
  }

  /// The number of a message. With one near its end, nobody could count on.
  fileprivate mutating func readSequence() -> UInt64? {
    readInteger(as: UInt64.self).flatMap { $0 < 1 << 62 ? $0 : nil }
  }

  fileprivate mutating func readIdentity() -> Identity? {
    guard let name = readText(), let start = readInteger(as: UInt64.self) else { return nil }
    return Identity(name: name, start: start)
  }

  fileprivate mutating func readStamp() -> Stamp? {
    guard let counter = readInteger(as: UInt64.self), let author = readIdentity() else {
      return nil
    }
    return Stamp(counter: counter, author: author)
  }

  /// Reads as many pairs as are announced. A count that is a lie ends with the bytes.
  fileprivate mutating func readPairs<Key: Hashable, Value>(
    _ key: (inout ByteBuffer) -> Key?, _ value: (inout ByteBuffer) -> Value?
  ) -> [Key: Value]? {
    guard let count = readInteger(as: UInt32.self) else { return nil }
    var pairs: [Key: Value] = [:]
    for _ in 0..<count {
      guard let key = key(&self), let value = value(&self) else { return nil }
      pairs[key] = value
    }
    return pairs
  }

  fileprivate mutating func readEnvelope() -> Envelope? {
    guard let type = readText(),
      let (version, oldest, root, hops) = readMultipleIntegers(
        as: (UInt32, UInt32, UInt64, UInt32).self),
      let metadata = readPairs({ $0.readText() }, { $0.readText() }),
      let count = readInteger(as: UInt32.self), let body = readSlice(length: Int(count))
    else { return nil }
    var envelope = Envelope(type: type, body: body)
    (envelope.version, envelope.oldest) = (version, oldest)
    envelope.origin = Origin(root: root, hops: hops)
    envelope.metadata = metadata
    return envelope
  }
}
