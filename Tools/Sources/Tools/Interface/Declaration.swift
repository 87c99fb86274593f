/// A declaration as it is listed.
struct Declaration: Hashable {
  let line: String
  private let rank: Int
  private let name: String

  /// - Parameters:
  ///   - constraints: What holds anyway, since what the declaration is in says so.
  ///   - note: What else is to be said about it.
  init(_ symbol: Symbol, holding constraints: Set<SymbolGraph.Constraint>, note: String? = nil) {
    let spelling = (symbol.declarationFragments ?? []).map(\.spelling).joined()
    var line = symbol.attributes.joined() + (symbol.accessLevel == "open" ? "open " : "")
    line += spelling.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      .replacing(" : ", with: ": ")
    let extra = symbol.isExtension ? [] : symbol.swiftExtension?.constraints ?? []
    let conditions = Set(extra).subtracting(constraints).map(\.description).sorted()
    let notes =
      (note.map { [$0] } ?? [])
      + (conditions.isEmpty ? [] : ["where \(conditions.joined(separator: ", "))"])
    if !notes.isEmpty { line += "  // \(notes.joined(separator: " "))" }
    self.line = line
    rank = Self.kinds.firstIndex(of: symbol.kind.identifier) ?? Self.kinds.count
    name = symbol.pathComponents.last ?? ""
  }

  /// In the order in which they are listed; types are behind what has no members.
  private static let kinds = [
    "swift.associatedtype", "swift.typealias", "swift.enum.case", "swift.type.property",
    "swift.type.method", "swift.type.subscript", "swift.init", "swift.property", "swift.subscript",
    "swift.method", "swift.func.op", "swift.func", "swift.var", "swift.macro", "swift.protocol",
    "swift.class", "swift.actor", "swift.struct", "swift.enum", "swift.extension",
  ]
}

extension Declaration: Comparable {
  static func < (one: Declaration, other: Declaration) -> Bool {
    (one.rank, one.name, one.line) < (other.rank, other.name, other.line)
  }
}

extension Symbol {
  fileprivate var attributes: [String] {
    (availability ?? []).map { "@available(\($0.description)) " }.sorted()
  }
}

extension Symbol.Availability: CustomStringConvertible {
  var description: String {
    var parts = [domain ?? "*"]
    if isUnconditionallyDeprecated == true { parts.append("deprecated") }
    if isUnconditionallyUnavailable == true { parts.append("unavailable") }
    for (name, version) in [
      ("introduced", introduced), ("deprecated", deprecated), ("obsoleted", obsoleted),
    ] {
      if let version { parts.append("\(name): \(version.major).\(version.minor ?? 0)") }
    }
    return parts.joined(separator: ", ")
  }
}

extension SymbolGraph.Constraint: CustomStringConvertible {
  var description: String {
    switch kind {
    case "conformance", "superclass": "\(lhs): \(rhs)"
    case "sameType": "\(lhs) == \(rhs)"
    default: "\(lhs) \(kind) \(rhs)"
    }
  }
}
