import Foundation
import Multicast

/// Writes the report to a file, or to standard output if the path is `-`.
@MainActor class ReportFile: ReportWriter {
  fileprivate let center: MulticastCenter
  private let output: Path

  init(to output: Path, center: MulticastCenter) {
    self.output = output
    self.center = center
    center.add(self, for: ReportWriter.self)
  }

  fileprivate func text(of report: Report) throws -> String { "" }

  func write(_ report: Report) -> String? {
    do {
      let file =
        output == .dash ? STDOUT_FILENO : try output.open(O_WRONLY | O_CREAT | O_TRUNC)
      defer { if output != .dash { close(file) } }
      try put(text(of: report), to: file)
      return nil
    } catch {
      return "\(output == .dash ? "standard output" : output): cannot be written (\(error)); "
        + "check that its folder exists, that there is room and that you may write there"
    }
  }
}

/// Writes a picture of the listeners in Mermaid.
final class WiringFile: ReportFile {
  override func text(of report: Report) -> String { center.wiring.mermaid }
}

final class TextReport: ReportFile {
  override func text(of report: Report) -> String {
    let totals = report.totals
    return (report.isInterrupted ? "Interrupted: this is what was found so far.\n" : "")
      + "\(report.root): \(count(totals.files, "file")) in \(count(totals.folders, "folder")), "
      + "\(byteCount(totals.bytes)); \(count(totals.links, "link")), "
      + "\(count(totals.special, "special file"))\n"
      + section("By extension", report.extensions, limit: 20) { name, total in
        let name = name == "" ? "(none)" : ".\(name)"
        return ["\(column(total.bytes)) \(name), \(count(total.files, "file"))"]
      }
      + section("Largest files", report.largest) { ["\(column($0.bytes)) \($0.path)"] }
      + section("Duplicates", report.duplicates, limit: 20) { files in
        let size = byteCount(files[0].bytes)
        return ["\(column(files.wasted)) wasted by \(files.count) files of \(size):"]
          + files.map { "           \($0.path)" }
      }
      + section("Problems", report.problems) { ["\($0)"] }
  }

  /// A heading and the items' lines; nothing without items.
  private func section<Item>(
    _ heading: String, _ items: [Item], limit: Int = .max, _ lines: (Item) -> [String]
  ) -> String {
    if items.isEmpty { return "" }
    let rest = items.count > limit ? ["and \(items.count - limit) more, which --json lists"] : []
    let lines = items.prefix(limit).flatMap(lines) + rest
    return "\n\(heading):\n" + lines.map { "  \($0)\n" }.joined()
  }

  private func column(_ bytes: Int) -> String {
    let text = byteCount(bytes)
    return String(repeating: " ", count: max(0, 8 - text.count)) + text
  }
}

final class JSONReport: ReportFile {
  override func text(of report: Report) throws -> String {
    var document = fields("path", report.root, ["interrupted": report.isInterrupted])
    let totals = report.totals
    document["totals"] = [
      "files": totals.files, "folders": totals.folders, "links": totals.links,
      "special": totals.special, "bytes": totals.bytes,
    ]
    document["extensions"] = report.extensions.map { name, total in
      fields("extension", name, ["files": total.files, "bytes": total.bytes])
    }
    document["largest"] = report.largest.map { fields("path", $0.path, ["bytes": $0.bytes]) }
    document["duplicates"] = report.duplicates.map { files in
      let paths = files.map { fields("path", $0.path) }
      return ["bytes": files[0].bytes, "wasted": files.wasted, "files": paths] as [String: Any]
    }
    document["problems"] = report.problems.map { problem in
      var more = problem.target.map { fields("target", $0) } ?? [:]
      more["kind"] = problem.kind.rawValue
      more["reason"] = problem.reason
      return fields("path", problem.path, more)
    }
    let json = try JSONSerialization.data(
      withJSONObject: document, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: json, as: UTF8.self) + "\n"
  }

  /// Fields and a path. A path that is not UTF-8 also has its bytes in base64.
  private func fields(_ key: String, _ path: Path, _ more: [String: Any] = [:]) -> [String: Any] {
    var fields = more
    fields[key] = String(decoding: path.bytes, as: UTF8.self)
    if String(validating: path.bytes, as: UTF8.self) == nil {
      fields[key + "Bytes"] = Data(path.bytes).base64EncodedString()
    }
    return fields
  }
}

func count(_ number: Int, _ thing: String) -> String {
  "\(number) \(thing)\(number == 1 ? "" : "s")"
}

/// A size in a suitable unit: `999 B`, `1.0 kB`. A kB is 1000 bytes.
func byteCount(_ bytes: Int) -> String {
  if bytes < 1000 { return "\(bytes) B" }
  var value = Double(bytes) / 1000
  var units = ["kB", "MB", "GB", "TB", "PB", "EB"][...]
  // A larger value would be rounded to 1000.0.
  while value >= 999.95 {
    value /= 1000
    units.removeFirst()
  }
  return "\(value.tenths) \(units[units.startIndex])"
}

extension Double {
  var tenths: Double { (self * 10).rounded() / 10 }
}
