import Foundation

/// A piece of Markdown: a file, or one comment of a source file.
struct Document: Equatable {
  struct Line: Equatable {
    /// Counted from 1, in the file.
    let number: Int
    let text: String
  }

  /// The file's path, as it is to be reported.
  let file: String
  let lines: [Line]
}

extension Document {
  /// All documents of a file: the Markdown itself, or the documentation comments of a Swift file.
  static func all(in text: String, file: String) -> [Document] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated()
      .map { index, text in Line(number: index + 1, text: String(text)) }
    return file.hasSuffix(".swift")
      ? documentationComments(of: lines, file: file)
      : [Document(file: file, lines: lines)]
  }

  private static func documentationComments(of lines: [Line], file: String) -> [Document] {
    lines.map(\.withoutCommentSigns)
      .split(separator: nil)
      .map { comment in Document(file: file, lines: comment.compactMap(\.self)) }
  }
}

extension Document.Line {
  /// The text of a documentation comment's line, with spaces for its signs so that columns stay what
  /// they are; nil for any other line.
  fileprivate var withoutCommentSigns: Self? {
    let indentation = text.prefix { $0 == " " }
    let comment = text.dropFirst(indentation.count)
    guard comment.hasPrefix("///"), !comment.hasPrefix("////") else { return nil }
    return Self(number: number, text: indentation + "   " + comment.dropFirst(3))
  }
}
