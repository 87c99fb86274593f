import Foundation
import Testing

@testable import Tools

struct InterfaceTests {
  private func lines(symbols: [String], relationships: [String] = []) throws -> [String] {
    let json = """
      {
        "symbols": [\(symbols.joined(separator: ","))],
        "relationships": [\(relationships.joined(separator: ","))]
      }
      """
    let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(json.utf8))
    return Interface([graph]).lines
  }

  /// A symbol in JSON, whose identifier is its path if nothing else is said.
  private func symbol(
    _ path: String, _ kind: String, _ text: String, id: String? = nil, more: String = ""
  ) -> String {
    let components = path.split(separator: ".").map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {
        "kind": { "identifier": "swift.\(kind)" }, "identifier": { "precise": "\(id ?? path)" },
        "pathComponents": [\(components)], "declarationFragments": [{ "spelling": "\(text)" }]
        \(more)
      }
      """
  }

  private func relationship(
    _ kind: String, _ source: String, _ target: String, constraint: String = ""
  ) -> String {
    """
    {
      "kind": "\(kind)", "source": "\(source)", "target": "\(target)",
      "targetFallback": "Swift.\(target)", "swiftConstraints": [\(constraint)]
    }
    """
  }

  private func constraint(_ lhs: String, _ rhs: String) -> String {
    """
    { "kind": "conformance", "lhs": "\(lhs)", "rhs": "\(rhs)" }
    """
  }

  @Test func `members stand under their type, in an order of their own`() throws {
    let symbols = [
      symbol("A", "struct", "struct A"),
      symbol("A.b()", "method", "func b()"),
      symbol("A.a", "property", "let a : Int"),
      symbol("A.B", "enum", "enum B"),
      symbol("A.B.c", "enum.case", "case c"),
      symbol("C", "class", "final class C", more: ",\"accessLevel\": \"open\""),
    ]
    let relationships = [
      relationship("memberOf", "A.b()", "A"), relationship("memberOf", "A.a", "A"),
      relationship("memberOf", "A.B", "A"), relationship("memberOf", "A.B.c", "A.B"),
    ]
    let expected = [
      "open final class C", "struct A", "  let a: Int", "  func b()", "  enum B", "    case c",
    ]
    #expect(try lines(symbols: symbols, relationships: relationships) == expected)
    #expect(
      try lines(symbols: symbols.reversed(), relationships: relationships.reversed()) == expected)
  }

  @Test func `conformances are listed, except for those that say nothing`() throws {
    let lines = try lines(
      symbols: [symbol("A", "struct", "struct A"), symbol("P", "protocol", "protocol P")],
      relationships: [
        relationship("conformsTo", "A", "Sendable"), relationship("conformsTo", "A", "Copyable"),
        relationship("conformsTo", "A", "Equatable", constraint: constraint("T", "Equatable")),
        relationship("conformsTo", "A", "P"),
      ])
    let ofA = ["  : Equatable where T: Equatable", "  : P", "  : Sendable"]
    #expect(lines == ["protocol P", "struct A"] + ofA)
  }

  @Test func `conditions that the type does not have are stated`() throws {
    let ofType = ",\"swiftGenerics\": { \"constraints\": [\(constraint("T", "Sendable"))] }"
    let ofMember = """
      ,"swiftExtension":
      { "constraints": [\(constraint("T", "Sendable")), \(constraint("T", "Hashable"))] }
      """
    let lines = try lines(
      symbols: [
        symbol("A", "struct", "struct A<T>", more: ofType),
        symbol("A.a", "property", "var a: T", more: ofMember),
      ], relationships: [relationship("memberOf", "A.a", "A")])
    #expect(lines == ["struct A<T>", "  var a: T  // where T: Hashable"])
  }

  @Test func `extensions of another module's type are one`() throws {
    let lines = try lines(
      symbols: [
        symbol("A", "extension", "extension A", id: "e1"), symbol("a", "method", "func a()"),
        symbol("A", "extension", "extension A", id: "e2"), symbol("b", "method", "func b()"),
      ],
      relationships: [
        relationship("memberOf", "a", "e1"), relationship("memberOf", "b", "e2"),
        relationship("conformsTo", "e2", "Sendable"),
      ])
    #expect(lines == ["extension A", "  : Sendable", "  func a()", "  func b()"])
  }

  @Test func `a requirement differs from its default, and from what an extension adds`() throws {
    let lines = try lines(
      symbols: [
        symbol("P", "protocol", "protocol P"), symbol("P.a", "property", "var a: Int", id: "a"),
        symbol("P.a", "property", "var a: Int", id: "a2"), symbol("P.b", "property", "var b: Int"),
      ],
      relationships: [
        relationship("defaultImplementationOf", "a2", "a"),
        relationship("requirementOf", "a", "P"), relationship("memberOf", "P.b", "P"),
      ])
    #expect(
      lines == [
        "protocol P", "  var a: Int", "  var a: Int  // default", "  var b: Int  // extension",
      ])
  }

  @Test func `availability is listed`() throws {
    let availability = """
      ,"availability": [
        { "domain": "macOS", "introduced": { "major": 15, "minor": 2 } },
        { "isUnconditionallyDeprecated": true }
      ]
      """
    let lines = try lines(symbols: [symbol("a()", "func", "func a()", more: availability)])
    #expect(lines == ["@available(*, deprecated) @available(macOS, introduced: 15.2) func a()"])
  }
}
