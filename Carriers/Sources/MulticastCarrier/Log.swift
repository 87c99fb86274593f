/// The log of a topic in an engine.
public struct Log: Sendable, Hashable {
  /// The beginning of all names of a team of processes: letters, digits, points, hyphens and underscores.
  public let prefix: String
  /// The topic's name outside the program: any text.
  public let type: String
  /// Whether only the log's last records matter, which must stay as long as the engine runs.
  public let keepsLatest: Bool

  /// Creates the description of a log.
  public init(prefix: String, type: String, keepsLatest: Bool) {
    (self.prefix, self.type, self.keepsLatest) = (prefix, type, keepsLatest)
  }

  /// The type in letters, digits, hyphens, underscores and single points inside it, with `=XX` for every other byte.
  ///
  /// Different types have different names.
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

  /// Stops the program if a text cannot be a prefix.
  static func checkPrefix(_ text: String) {
    precondition(
      Log(prefix: "", type: text, keepsLatest: false).name == text && !text.isEmpty
        && text.utf8.count <= 64,
      """
      \(text) cannot be a prefix. Use up to 64 letters, digits, hyphens, underscores and single points inside.
      """)
  }
}

/// A position in a log: after one of its records, or at its beginning.
///
/// A log that was created again has another epoch. Store a position to go on there after a restart.
public struct Position: Sendable, Hashable, Codable, Comparable {
  /// Identifies one of the logs that have had this name.
  public let epoch: UInt64
  /// The position, as the engine counts. 0 is the beginning.
  public let number: UInt64
  /// The position among several records of the same number, if the engine counts that way.
  public let part: UInt64

  /// Creates a position.
  public init(epoch: UInt64, number: UInt64, part: UInt64 = 0) {
    (self.epoch, self.number, self.part) = (epoch, number, part)
  }

  /// Returns whether one position is before the other, in the same log.
  public static func < (one: Position, other: Position) -> Bool {
    (one.number, one.part) < (other.number, other.part)
  }
}

/// A record: bytes that an engine has stored in one step.
public struct Record: Sendable {
  /// The position after the record.
  public let position: Position
  /// Its contents.
  public let bytes: [UInt8]

  /// Creates a record.
  public init(position: Position, bytes: [UInt8]) {
    (self.position, self.bytes) = (position, bytes)
  }
}
