// Prints the public interface of a library: what its symbol graphs declare, a line each, in the order of
// their names.
//
//   swift .ci/list-interface.swift <folder of symbol graphs>

import Foundation

struct Graph: Decodable {
  struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Fragment: Decodable { let spelling: String }
    struct Extension: Decodable { let constraints: [Constraint]? }
    struct Version: Decodable { let major: Int, minor: Int? }

    struct Availability: Decodable {
      let domain: String?
      let introduced: Version?, deprecated: Version?, obsoleted: Version?
      let isUnconditionallyDeprecated: Bool?, isUnconditionallyUnavailable: Bool?
    }

    let identifier: Identifier
    let pathComponents: [String]
    let declarationFragments: [Fragment]?
    let accessLevel: String
    let availability: [Availability]?
    let swiftExtension: Extension?
  }

  struct Relationship: Decodable {
    let kind: String, source: String, target: String
    let targetFallback: String?
    let swiftConstraints: [Constraint]?
  }

  struct Constraint: Decodable { let kind: String, lhs: String, rhs: String }

  let symbols: [Symbol]
  let relationships: [Relationship]
}

// What every type has that does not say otherwise.
let implied = ["Copyable", "Escapable", "SendableMetatype"]

func conditions(_ constraints: [Graph.Constraint]?) -> String {
  let texts = (constraints ?? []).filter { !implied.contains($0.rhs) }
    .map { "\($0.lhs) \($0.kind == "sameType" ? "==" : ":") \($0.rhs)" }
  return texts.isEmpty ? "" : "  // where \(Set(texts).sorted().joined(separator: ", "))"
}

func attributes(_ symbol: Graph.Symbol) -> String {
  let attributes = (symbol.availability ?? []).map { availability in
    let versions = [
      ("introduced", availability.introduced), ("deprecated", availability.deprecated),
      ("obsoleted", availability.obsoleted),
    ].compactMap { name, version in version.map { "\(name): \($0.major).\($0.minor ?? 0)" } }
    let always =
      (availability.isUnconditionallyDeprecated == true ? ["deprecated"] : [])
      + (availability.isUnconditionallyUnavailable == true ? ["unavailable"] : [])
    let parts = [availability.domain ?? "*"] + always + versions
    return "@available(\(parts.joined(separator: ", "))) "
  }
  return attributes.sorted().joined() + (symbol.accessLevel == "open" ? "open " : "")
}

let folder = URL(filePath: CommandLine.arguments[1])
let graphs = try FileManager.default.contentsOfDirectory(
  at: folder, includingPropertiesForKeys: nil
)
.filter { $0.pathExtension == "json" }
.map { try JSONDecoder().decode(Graph.self, from: Data(contentsOf: $0)) }
var paths: [String: String] = [:]
var lines: Set<String> = []
let notes = Dictionary(
  graphs.flatMap(\.relationships).filter { $0.kind.hasSuffix("Of") && $0.kind != "memberOf" }
    .map { ($0.source, "  // \($0.kind)") }, uniquingKeysWith: { max($0, $1) })
for symbol in graphs.flatMap(\.symbols) {
  let path = symbol.pathComponents.joined(separator: ".")
  paths[symbol.identifier.precise] = path
  let spelling = (symbol.declarationFragments ?? []).map(\.spelling).joined()
    .split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing(" : ", with: ": ")
  lines.insert(
    "\(path): \(attributes(symbol))\(spelling)\(conditions(symbol.swiftExtension?.constraints))"
      + (notes[symbol.identifier.precise] ?? ""))
}
for relationship in graphs.flatMap(\.relationships)
where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
  let name = paths[relationship.target] ?? relationship.targetFallback ?? relationship.target
  guard let path = paths[relationship.source] else { continue }
  if implied.contains(name.replacing("Swift.", with: "")) { continue }
  lines.insert("\(path) conforms to \(name)\(conditions(relationship.swiftConstraints))")
}
print(lines.sorted().joined(separator: "\n"))
