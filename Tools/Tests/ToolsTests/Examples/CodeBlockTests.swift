import Testing

@testable import Tools

struct CodeBlockTests {
  private func blocks(_ text: String, file: String = "a.md") throws -> [CodeBlock] {
    try Document.all(in: text, file: file).flatMap { document in try document.codeBlocks() }
  }

  @Test func `a block has its code, its line and its marker`() throws {
    let found = try blocks(
      """
      Text.
      <!-- example: in Client -->

      ```swift
      let a = 1

      let b = 2
      ```
      ~~~ swift
      ```
      ~~~
      """)
    #expect(
      found == [
        CodeBlock(
          file: "a.md", line: 5, code: "let a = 1\n\nlet b = 2", marker: Marker(wrapper: "Client")),
        CodeBlock(file: "a.md", line: 10, code: "```", marker: Marker()),
      ])
  }

  @Test func `other languages, and fences within longer ones, are left alone`() throws {
    let found = try blocks(
      """
      ```sh
      # <!-- example: in Nothing -->
      ```
      ````text
      ```swift
      let a = 1
      ```
      ````
      Three backticks in a line, ```swift```, are none.
      """)
    #expect(found.isEmpty)
  }

  @Test func `a comment's code keeps its columns`() throws {
    let found = try blocks(
      """
      let a = 1  // ```swift
      extension A {
        /// A.
        ///
        /// ```swift
        /// if a {
        ///   b()
        /// }
        /// ```
        var b = 2
        /// ```swift
        /// c()
        /// ```
        //// ```swift
      }
      """, file: "a.swift")
    #expect(found.map(\.line) == [6, 12])
    #expect(found.map(\.code) == ["      if a {\n        b()\n      }", "      c()"])
  }

  @Test func `a block that does not end is a problem`() {
    #expect(throws: Problem(file: "a.swift", line: 2, message: "a block does not end")) {
      try blocks("/// A.\n/// ```swift\n/// c()\nlet c = 3\n/// ```sh\n/// ```", file: "a.swift")
    }
  }

  @Test(arguments: ["```", "```Swift", "```swift in Client", "~~~"])
  func `a block that may be Swift and does not say so is a problem`(_ fence: String) {
    #expect(throws: Problem.self) { try blocks("\(fence)\ncode\n\(fence.prefix(3))") }
  }

  @Test func `a marker without a block is a problem`() {
    let marker = "<!-- example: in Client -->"
    let problem = Problem(file: "a.md", line: 1, message: "no Swift block follows this marker")
    for text in [marker, "\(marker)\ntext\n```swift\n```", "\(marker)\n\(marker)\n```swift\n```"] {
      #expect(throws: problem) { try blocks(text) }
    }
    #expect(throws: Problem.self) { try blocks("\(marker)\n```sh\n```") }
  }
}
