import Testing

@testable import Tools

struct MarkerTests {
  private func marker(_ line: String) throws -> Marker? {
    try Marker(of: line) { Problem(file: "a.md", line: 1, message: $0) }
  }

  @Test func `any other line is none`() throws {
    for line in ["", "example: in Client", "<!-- a comment -->", "<!-- reports: x -->"] {
      #expect(try marker(line) == nil)
    }
  }

  @Test func `clauses are separated by semicolons`() throws {
    #expect(try marker("<!-- example: in Client -->") == Marker(wrapper: "Client"))
    #expect(
      try marker("  <!--example:in Client;continues;where SwiftUI can be imported-->")
        == Marker(wrapper: "Client", continues: true, module: "SwiftUI"))
  }

  @Test func `the message of an error may have semicolons, and is the last`() throws {
    #expect(
      try marker("<!-- example: in Client; does not compile: no; not 'that' -->")
        == Marker(wrapper: "Client", refusal: "no; not 'that'"))
  }

  @Test(arguments: [
    "<!-- example -->", "<!-- example: -->", "<!-- example: in -->", "<!-- example: in Client",
    "<!-- example: in Client, continues -->", "<!-- example: does not compile: -->",
    "<!-- example: does not compile -->", "<!-- examples: in Client -->",
  ])
  func `what is not understood is a problem`(_ line: String) {
    #expect(throws: Problem.self) { try marker(line) }
  }
}
