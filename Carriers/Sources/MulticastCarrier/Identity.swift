/// A process among the others, from its start to its end: a name, and a number of this start.
///
/// A process that is started again has its old name and another number, so that nobody takes its first
/// messages for old ones. Two processes of one name hear each other, and both are told.
public struct Identity: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The name. It may be the same after each start.
  public let name: String

  /// The number of this start.
  public let start: UInt64

  /// Creates an identity.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - start: The number of the start. By default, it is random.
  public init(name: String, start: UInt64 = .random(in: 1 ... .max)) {
    self.name = name
    self.start = start
  }

  /// The name and the number in hexadecimal digits: `north#5c1a03…`.
  public var description: String { "\(name)#\(String(start, radix: 16))" }

  /// Equal are those of one start under one name.
  public static func == (one: Self, other: Self) -> Bool {
    one.start == other.start && one.name == other.name
  }

  /// Hashes both, because whoever invents identities may give them one start.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(start)
    hasher.combine(name)
  }

  /// Orders by name, and then by start.
  public static func < (one: Self, other: Self) -> Bool {
    (one.name, one.start) < (other.name, other.start)
  }
}
