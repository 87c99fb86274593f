/// A place in the source where something is notified, posted or observed.
///
/// Every way of delivering takes its call site from where it is written. A notify whose call site
/// is delivering already is a loop. A post whose call site is among its own causes recurs. A
/// function of yours that notifies or posts on behalf of its callers passes theirs on, so that each
/// of them counts as a site of its own:
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
/// A site is known by its file, line and column, as `#fileID`, `#line` and `#column` give them.
/// Within the arguments of a macro, `#expect { … }` for instance, all of them are the macro's, so
/// that everything written in there is one site.
///
/// Where an owner observes a topic without an `id`, the call site is the handler's id: see
/// <doc:IsolationAndThreads>.
public struct CallSite: Sendable {
  @usableFromInline
  let file: StaticString

  /// The line, counted from 1.
  public let line: Int

  /// The column, counted from 1.
  public let column: Int

  /// A call site; without arguments, the one where this stands.
  @inlinable
  public init(fileID: StaticString = #fileID, line: Int = #line, column: Int = #column) {
    file = fileID
    self.line = line
    self.column = column
  }

  /// The module and the file, as in `Module/File.swift`.
  public var fileID: String { file.description }
}

extension CallSite: Hashable {
  /// Whether both are the same place in the same file.
  public static func == (one: CallSite, other: CallSite) -> Bool {
    // The same file has a literal of its own in every module that its code was inlined into, so
    // that only equal addresses say something. The text is compared last, and then it is equal.
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
  /// The site in the form that editors and terminals jump to: `Module/File.swift:12:32`.
  public var description: String { "\(file):\(line):\(column)" }
}

extension StaticString {
  fileprivate func hasSameAddress(as other: StaticString) -> Bool {
    unsafe hasPointerRepresentation && other.hasPointerRepresentation
      && utf8Start == other.utf8Start && utf8CodeUnitCount == other.utf8CodeUnitCount
  }
}
