/// The file, line and column of a call of `notify`, `post` or `observe`.
///
/// A `notify` is a loop if its call site is already delivering. A `post` recurs if its call site is among its
/// own causes. Reports and ``MulticastCenter/wiring`` name call sites. A function that notifies, posts or
/// observes for its callers must therefore pass their call sites on:
///
/// <!-- example: in Program -->
/// ```swift
/// func announce(
///   _ id: UInt, fileID: StaticString = #fileID,
///   line: Int = #line, column: Int = #column
/// ) {
///   center.notify(
///     UserProtocol.self,
///     fileID: fileID, line: line, column: column
///   ) {
///     $0.userLogin(id)
///   }
/// }
/// ```
///
/// All code in the arguments of a macro, such as `#expect { … }`, has one call site.
public struct CallSite: Hashable, Sendable {
  /// The line, counted from 1.
  public let line: Int

  /// The column, counted from 1.
  public let column: Int

  @usableFromInline let file: StaticString

  /// Creates a call site. Without arguments, it is that of this call.
  ///
  /// - Parameters:
  ///   - fileID: The module and the file, as `#fileID` returns them.
  ///   - line: The line.
  ///   - column: The column.
  @inlinable
  public init(fileID: StaticString = #fileID, line: Int = #line, column: Int = #column) {
    self.line = line
    self.column = column
    file = fileID
  }

  /// The module and the file: `Module/File.swift`.
  public var fileID: String { file.description }
}

extension CallSite {
  // Compares the file's texts and not their addresses, because each module that inlines `#fileID` has a literal of its own. The
  // texts come last, because the numbers are faster to compare.
  /// Returns whether both are the same call site.
  public static func == (one: CallSite, other: CallSite) -> Bool {
    one.line == other.line && one.column == other.column
      && one.file.withUTF8Buffer { file in
        // Not as strings, which would be allocated.
        other.file.withUTF8Buffer { unsafe file.elementsEqual($0) }
      }
  }

  /// Hashes the line.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(line)
  }
}

extension CallSite: CustomStringConvertible {
  /// The call site as editors and terminals read it: `Module/File.swift:12:32`.
  public var description: String { "\(file):\(line):\(column)" }
}
