import Foundation

/// Swift code around a place for a block.
struct Wrapper {
  private let before: String
  private let after: String

  /// No code at all.
  static let none = Wrapper(before: "", after: "")

  private init(before: String, after: String) {
    self.before = before
    self.after = after
  }

  /// Reads a wrapper: its place is the only line `// the example`.
  init(_ text: String, file: String) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let places = lines.indices.filter {
      lines[$0].trimmingCharacters(in: .whitespaces) == "// the example"
    }
    guard places.count == 1, let place = places.first else {
      throw Problem(
        file: file, line: 1,
        message: "a wrapper needs one line // the example; this has \(places.count)")
    }
    before = lines[..<place].joined(separator: "\n")
    after = lines[(place + 1)...].joined(separator: "\n")
  }

  /// A file with the blocks in their place. Diagnostics name the lines that the blocks come from.
  func program(of blocks: [CodeBlock]) -> String {
    var program: [String] = []
    let module = blocks.first?.marker.module
    if let module { program.append("#if canImport(\(module))") }
    program.append(before)
    for block in blocks {
      program += [
        "#sourceLocation(file: \"\(block.file)\", line: \(block.line))",
        block.code,
        "#sourceLocation()",
      ]
    }
    program.append(after)
    if module != nil { program.append("#endif") }
    return program.joined(separator: "\n") + "\n"
  }
}
