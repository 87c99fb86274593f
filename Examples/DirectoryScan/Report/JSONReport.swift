import Foundation
import Multicast

/// Writes the report as JSON.
@MainActor final class JSONReport: ReportWriter {
  let output: Output

  init(to output: Output, center: MulticastCenter) {
    self.output = output
    center.add(self, for: ReportWriter.self)
  }

  func text(of report: Report) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(Document(report)), as: UTF8.self) + "\n"
  }
}

/// The form of the JSON.
///
/// JSON is text in UTF-8, and a path need not be. Beside one that is not, its bytes stand in base64,
/// and in the text the character U+FFFD stands for what cannot be told.
private struct Document: Encodable {
  struct Extension: Encodable {
    let `extension`: String
    let extensionBytes: Data?
    let files: Int
    let bytes: Int
  }

  struct Item: Encodable {
    let path: String
    let pathBytes: Data?
    var bytes: Int?
  }

  struct Duplicates: Encodable {
    let bytes: Int
    let wasted: Int
    let files: [Item]
  }

  struct Problem: Encodable {
    let path: String
    let pathBytes: Data?
    let kind: String
    var reason: String?
    var target: String?
    var targetBytes: Data?
  }

  let path: String
  let pathBytes: Data?
  let interrupted: Bool
  let totals: Report.Totals
  let extensions: [Extension]
  let largest: [Item]
  let duplicates: [Duplicates]
  let problems: [Problem]

  init(_ report: Report) {
    (path, pathBytes) = Self.text(report.root)
    interrupted = report.isInterrupted
    totals = report.totals
    extensions = report.extensions.map(Extension.init)
    largest = report.largest.map { Item($0.path, bytes: $0.bytes) }
    duplicates = report.duplicates.map { group in
      Duplicates(
        bytes: group.bytes, wasted: group.wasted, files: group.paths.map { Item($0) })
    }
    problems = report.problems.map(Problem.init)
  }

  /// The text of a path or of a part of it, and its bytes where the text does not tell them.
  static func text(_ path: Path) -> (String, Data?) {
    if let text = String(validating: path.bytes, as: UTF8.self) { return (text, nil) }
    return (String(decoding: path.bytes, as: UTF8.self), Data(path.bytes))
  }
}

extension Document.Extension {
  init(_ total: Report.Extension) {
    (`extension`, extensionBytes) = Document.text(Path(total.name))
    files = total.files
    bytes = total.bytes
  }
}

extension Document.Item {
  init(_ path: Path, bytes: Int? = nil) {
    (self.path, pathBytes) = Document.text(path)
    self.bytes = bytes
  }
}

extension Document.Problem {
  init(_ problem: Problem) {
    (path, pathBytes) = Document.text(problem.path)
    switch problem.kind {
    case .unreadable(let reason):
      kind = "unreadable"
      self.reason = reason
    case .brokenLink(let target):
      kind = "brokenLink"
      (self.target, targetBytes) = Document.text(target)
    case .linkCycle(let target):
      kind = "linkCycle"
      (self.target, targetBytes) = Document.text(target)
    case .vanished:
      kind = "vanished"
    }
  }
}
