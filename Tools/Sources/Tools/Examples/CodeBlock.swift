import Foundation

/// A fenced block of Swift code, with the marker that stands before it.
struct CodeBlock: Equatable {
  let file: String

  /// The line of the code's first line.
  let line: Int
  let code: String
  let marker: Marker
}

extension Document {
  /// The Swift blocks, in order.
  ///
  /// Throws at a block of which it cannot be known what it is: one that says no language, or more than
  /// that it is Swift, and at a marker without a block.
  func codeBlocks() throws(Problem) -> [CodeBlock] {
    var blocks: [CodeBlock] = []
    var marker: (line: Line, marker: Marker)?
    var rest = lines[...]
    while let line = rest.popFirst() {
      if let fence = Fence(line.text) {
        let language = fence.info
        guard !language.isEmpty else {
          throw problem(line, "a block says no language after its fence: swift, sh, text")
        }
        guard language == "swift" || !language.lowercased().hasPrefix("swift") else {
          throw problem(line, "a Swift block says more than its language: \(language)")
        }
        var code: [Line] = []
        while let line = rest.first, !fence.isClosed(by: line.text) {
          code.append(line)
          rest.removeFirst()
        }
        guard rest.popFirst() != nil else { throw problem(line, "a block does not end") }
        if language == "swift" {
          blocks.append(
            CodeBlock(
              file: file, line: line.number + 1, code: code.map(\.text).joined(separator: "\n"),
              marker: marker?.marker ?? Marker()))
          marker = nil
        }
      } else if let found = try Marker(of: line.text, failure: { problem(line, $0) }) {
        if let marker { throw noBlock(after: marker.line) }
        marker = (line, found)
        continue
      }
      if let marker, !line.text.allSatisfy(\.isWhitespace) { throw noBlock(after: marker.line) }
    }
    if let marker { throw noBlock(after: marker.line) }
    return blocks
  }

  private func noBlock(after line: Line) -> Problem {
    problem(line, "no Swift block follows this marker")
  }

  private func problem(_ line: Line, _ message: String) -> Problem {
    Problem(file: file, line: line.number, message: message)
  }
}

/// The line that opens a block: backticks or tildes, three or more, and the language.
private struct Fence {
  let info: String
  private let sign: Character
  private let length: Int

  init?(_ line: String) {
    let text = line.trimmingPrefix { $0 == " " }
    guard let sign = text.first, sign == "`" || sign == "~" else { return nil }
    let signs = text.prefix { $0 == sign }
    info = String(text.dropFirst(signs.count)).trimmingCharacters(in: .whitespaces)
    // Code in a line of prose may have as many backticks, but it ends in the line.
    guard signs.count >= 3, sign == "~" || !info.contains("`") else { return nil }
    self.sign = sign
    length = signs.count
  }

  func isClosed(by line: String) -> Bool {
    let text = line.trimmingCharacters(in: .whitespaces)
    return text.count >= length && text.allSatisfy { $0 == sign }
  }
}
