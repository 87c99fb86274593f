/// A library's public interface as lines of text: a declaration a line, and what belongs to it indented
/// under it.
///
/// The order follows from the text alone: an interface gives the same lines wherever and in whatever
/// order its declarations are written.
struct Interface {
  private var symbols: [String: Symbol] = [:]
  private var members: [String: [String]] = [:]
  private var conformances: [String: Set<Conformance>] = [:]
  private var roots: [String] = []

  /// How members of protocols differ from requirements.
  private var notes: [String: String] = [:]

  init(_ graphs: [SymbolGraph]) {
    for symbol in graphs.flatMap(\.symbols) { symbols[symbol.identifier.precise] = symbol }
    var parents: [String: String] = [:]
    var defaults: [String: String] = [:]
    for relationship in graphs.flatMap(\.relationships) {
      switch relationship.kind {
      case "memberOf", "requirementOf", "optionalRequirementOf":
        guard let parent = symbols[relationship.target] else { continue }
        parents[relationship.source] = relationship.target
        if relationship.kind == "memberOf", parent.kind.identifier == "swift.protocol" {
          notes[relationship.source] = "extension"
        }
      case "defaultImplementationOf": defaults[relationship.source] = relationship.target
      case "conformsTo", "inheritsFrom":
        let type = symbols[relationship.source]
        let conformance = Conformance(
          relationship, to: symbols[relationship.target]?.path, holding: type?.ownConstraints ?? [])
        if conformance.isImplied { continue }
        conformances[relationship.source, default: []].insert(conformance)
      default: continue
      }
    }
    for (implementation, requirement) in defaults where parents[implementation] == nil {
      guard let parent = parents[requirement] else { continue }
      parents[implementation] = parent
      notes[implementation] = "default"
    }
    members = Dictionary(grouping: parents.keys) { parents[$0] ?? "" }
    roots = symbols.keys.filter { parents[$0] == nil }
  }

  var lines: [String] { lines(of: roots, holding: []) }

  /// The lines of declarations that stand side by side.
  private func lines(
    of identifiers: [String], holding constraints: Set<SymbolGraph.Constraint>
  ) -> [String] {
    let declarations = identifiers.compactMap { identifier in
      symbols[identifier].map { symbol in
        (identifier, Declaration(symbol, holding: constraints, note: notes[identifier]))
      }
    }
    // What several extensions add under the same conditions stands together.
    return Dictionary(grouping: declarations, by: \.1)
      .sorted { $0.key < $1.key }
      .flatMap { declaration, all in
        let identifiers = all.map(\.0)
        let own = constraints.union(
          identifiers.compactMap { symbols[$0] }.flatMap(\.ownConstraints))
        let conformances = identifiers.reduce(into: Set()) {
          $0.formUnion(self.conformances[$1] ?? [])
        }
        let contents =
          conformances.map(\.line).sorted()
          + lines(of: identifiers.flatMap { members[$0] ?? [] }, holding: own)
        return [declaration.line] + contents.map { "  " + $0 }
      }
  }
}

extension Symbol {
  /// What holds wherever the declaration's generic parameters are known.
  fileprivate var ownConstraints: [SymbolGraph.Constraint] {
    (swiftGenerics?.constraints ?? []) + (isExtension ? swiftExtension?.constraints ?? [] : [])
  }
}
