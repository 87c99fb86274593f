/// The log of a topic in an engine.
public struct Log: Sendable, Hashable {
  /// The beginning of all names of a team of processes: letters, digits, points, hyphens and underscores.
  public let prefix: String
  /// What the topic is called outside of the program: any text.
  public let type: String
  /// Whether only its last records matter, and have to stay for as long as the engine lives.
  public let keepsLatest: Bool

  /// Creates the description of a log.
  public init(prefix: String, type: String, keepsLatest: Bool) {
    (self.prefix, self.type, self.keepsLatest) = (prefix, type, keepsLatest)
  }

  /// The type in letters, digits, hyphens, underscores, single points inside of it, and `=XX` for every other byte.
  ///
  /// Two types that differ have names that differ.
  public var name: String {
    let name = type.utf8.reduce(into: "") { name, byte in
      switch Unicode.Scalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "-", "_":
        name.unicodeScalars.append(Unicode.Scalar(byte))
      case "." where !name.isEmpty && name.last != ".": name += "."
      default: name += (byte < 16 ? "=0" : "=") + String(byte, radix: 16, uppercase: true)
      }
    }
    return name.last == "." ? name.dropLast() + "=2E" : name
  }

  static func isPrefix(_ text: String) -> Bool {
    Log(prefix: "", type: text, keepsLatest: false).name == text && !text.isEmpty
      && text.utf8.count <= 64
  }
}

/// A place in a log: behind one of its records, or at its beginning.
///
/// A log that was made anew has another epoch. Who stores a position can go on there after a restart.
public struct Position: Sendable, Hashable, Codable {
  /// Which of the logs that have had this name.
  public let epoch: UInt64
  /// The place, as the engine counts. 0 is the beginning.
  public let number: UInt64
  /// The place among those of the same number, where the engine counts so.
  public let part: UInt64

  /// Creates a position.
  public init(epoch: UInt64, number: UInt64, part: UInt64 = 0) {
    (self.epoch, self.number, self.part) = (epoch, number, part)
  }
}

extension Position: Comparable {
  /// Returns whether one is before the other, in the same log.
  public static func < (one: Position, other: Position) -> Bool {
    (one.number, one.part) < (other.number, other.part)
  }
}

/// What an engine has stored at once.
public struct Record: Sendable {
  /// The place behind it.
  public let position: Position
  /// Its contents.
  public let bytes: [UInt8]

  /// Creates a record.
  public init(position: Position, bytes: [UInt8]) {
    (self.position, self.bytes) = (position, bytes)
  }
}
