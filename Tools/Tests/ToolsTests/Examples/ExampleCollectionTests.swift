import Testing

@testable import Tools

struct ExampleCollectionTests {
  private func collection() throws -> ExampleCollection {
    ExampleCollection(wrappers: [
      "Client": try Wrapper("class Client {\n  // the example\n}\n", file: "Client.swift")
    ])
  }

  @Test func `blocks stand in their wrapper, and name their lines`() throws {
    var collection = try collection()
    #expect(collection.unusedWrappers == ["Client"])
    collection.add(
      """
      <!-- example: in Client; where SwiftUI can be imported -->
      ```swift
      let a = 1
      ```
      <!-- example: continues; does not compile: no b -->
      ```swift
      let b = 2
      ```
      """, file: "a.md")
    #expect(
      collection.examples == [
        ExampleCollection.Example(
          place: "a.md:7",
          program: """
            #if canImport(SwiftUI)
            class Client {
            #sourceLocation(file: "a.md", line: 3)
            let a = 1
            #sourceLocation()
            #sourceLocation(file: "a.md", line: 7)
            let b = 2
            #sourceLocation()
            }

            #endif

            """,
          refusal: "no b")
      ])
    #expect(collection.problems.isEmpty)
    #expect(collection.unusedWrappers.isEmpty)
  }

  @Test func `a block that stands alone is the whole file`() throws {
    var collection = try collection()
    collection.add("```swift\nlet a = 1\n```\n```swift\nlet b = 2\n```", file: "a.md")
    #expect(collection.examples.map(\.place) == ["a.md:2", "a.md:5"])
    #expect(
      collection.examples.first?.program
        == "\n#sourceLocation(file: \"a.md\", line: 2)\nlet a = 1\n#sourceLocation()\n\n")
  }

  @Test(arguments: [
    "<!-- example: continues -->\n```swift\n```",
    "<!-- example: in Server -->\n```swift\n```",
    "```swift\n```\n<!-- example: continues; in Client -->\n```swift\n```",
    "<!-- example: does not compile: a -->\n```swift\n```\n<!-- example: continues -->\n```swift\n```",
  ])
  func `what cannot be put together is a problem`(_ text: String) throws {
    var collection = try collection()
    collection.add(text, file: "a.md")
    #expect(collection.problems.count == 1)
    #expect(collection.examples.isEmpty)
  }

  @Test(arguments: ["class Client {}", "// the example\n// the example"])
  func `a wrapper has one place`(_ text: String) {
    #expect(throws: Problem.self) { try Wrapper(text, file: "Client.swift") }
  }
}
