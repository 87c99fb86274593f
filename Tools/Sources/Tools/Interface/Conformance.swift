/// A protocol that a type conforms to, or a class that it inherits from.
struct Conformance: Hashable {
  let line: String

  /// Whether every type has it that does not say otherwise, or that is `Sendable`.
  let isImplied: Bool

  init(
    _ relationship: SymbolGraph.Relationship, to name: String?,
    holding constraints: [SymbolGraph.Constraint]
  ) {
    let name = name ?? Self.shortName(relationship.targetFallback ?? relationship.target)
    let conditions = Set(relationship.swiftConstraints ?? [])
      .subtracting(constraints)
      .filter { !Self.isImplied($0.rhs) }
      .map(\.description)
      .sorted()
    let condition = conditions.isEmpty ? "" : " where \(conditions.joined(separator: ", "))"
    line = ": \(name)\(condition)"
    isImplied = Self.isImplied(name)
  }

  /// The name without the modules that are imported anyway.
  private static func shortName(_ name: String) -> String {
    for module in ["Swift.", "_Concurrency."] where name.hasPrefix(module) {
      return String(name.dropFirst(module.count))
    }
    return name
  }

  private static func isImplied(_ name: String) -> Bool {
    ["Copyable", "Escapable", "SendableMetatype"].contains(name)
  }
}
