import Foundation
import Testing

@testable import Tools

struct SymbolTests {
  private func symbol(comment: String? = nil) throws -> Symbol {
    let json = """
      {
        "kind": { "identifier": "swift.struct" }, "identifier": { "precise": "s:1M1AV" },
        "pathComponents": ["A", "B"],
        \(comment.map { "\"docComment\": { \"lines\": [{ \"text\": \"\($0)\" }] }," } ?? "")
        "location": { "uri": "file:///tmp/a%20b/A.swift", "position": { "line": 4 } }
      }
      """
    return try JSONDecoder().decode(Symbol.self, from: Data(json.utf8))
  }

  @Test func `a comment without words documents nothing`() throws {
    #expect(try symbol(comment: "Words.").isDocumented)
    #expect(try !symbol(comment: " ").isDocumented)
    #expect(try !symbol().isDocumented)
  }

  @Test func `a problem names the file and the line, counted from 1`() throws {
    let problem = try symbol().problem("is wrong")
    #expect(problem.description == "/tmp/a b/A.swift:5: error: is wrong")
  }
}
