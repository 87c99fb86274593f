import Foundation

/// What the compiler says about a module's interface, as far as it is used here.
struct SymbolGraph: Decodable {
  let symbols: [Symbol]
  let relationships: [Relationship]
}

extension SymbolGraph {
  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String

    /// The target's name, for one that is in another module.
    let targetFallback: String?
    let swiftConstraints: [Constraint]?
  }

  struct Constraint: Decodable, Hashable {
    let kind: String
    let lhs: String
    let rhs: String
  }
}

extension SymbolGraph {
  /// The graphs of a library in a folder: its own, and those of what it adds to other modules.
  static func all(in folder: URL) throws -> [SymbolGraph] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map { file in try JSONDecoder().decode(Self.self, from: Data(contentsOf: file)) }
  }
}
