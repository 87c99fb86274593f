/// A place in the source that notifies, posts or observes.
///
/// A `notify` is a loop if its call site is already delivering. A `post` recurs if its call site is
/// among its own causes. Reports and ``MulticastCenter/wiring`` name places. A function that does any of
/// this for its callers must pass their call sites on:
///
/// <!-- example: in Program -->
/// ```swift
/// func announce(
///   _ id: UInt, fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
/// ) {
///   center.notify(UserProtocol.self, fileID: fileID, line: line, column: column) {
///     $0.userLogin(id)
///   }
/// }
/// ```
///
/// Everything in the arguments of a macro, such as `#expect { … }`, is one call site.
public struct CallSite: Sendable {
  @usableFromInline
  let file: StaticString

  /// The line, counted from 1.
  public let line: Int

  /// The column, counted from 1.
  public let column: Int

  /// Creates a call site. Without arguments, it is the place of this call.
  @inlinable
  public init(fileID: StaticString = #fileID, line: Int = #line, column: Int = #column) {
    file = fileID
    self.line = line
    self.column = column
  }

  /// The module and the file: `Module/File.swift`.
  public var fileID: String { file.description }
}

extension CallSite: Hashable {
  /// Returns whether both are the same place in the same file.
  public static func == (one: CallSite, other: CallSite) -> Bool {
    // Each module that inlines a file has a literal of its own. So unequal addresses prove nothing, and the
    // text is compared last.
    one.line == other.line && one.column == other.column
      && (one.file.hasSameAddress(as: other.file) || one.fileID == other.fileID)
  }

  /// Hashes the place.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(fileID)
    hasher.combine(line)
    hasher.combine(column)
  }
}

extension CallSite: CustomStringConvertible {
  /// The call site as editors and terminals read it: `Module/File.swift:12:32`.
  public var description: String { "\(file):\(line):\(column)" }
}

extension StaticString {
  fileprivate func hasSameAddress(as other: StaticString) -> Bool {
    unsafe hasPointerRepresentation && other.hasPointerRepresentation
      && utf8Start == other.utf8Start && utf8CodeUnitCount == other.utf8CodeUnitCount
  }
}
