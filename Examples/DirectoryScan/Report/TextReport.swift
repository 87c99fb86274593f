import Multicast

/// Writes the report as text to standard output.
@MainActor final class TextReport: ReportWriter {
  let output = Output.standardOutput

  /// How many extensions and groups of duplicates are listed.
  private let limit = 20

  init(center: MulticastCenter) {
    center.add(self, for: ReportWriter.self)
  }

  func text(of report: Report) -> String {
    var lines = summary(of: report)
    lines += extensions(of: report)
    lines += largest(of: report)
    lines += duplicates(of: report)
    lines += problems(of: report)
    return lines.map { $0 + "\n" }.joined()
  }

  private func summary(of report: Report) -> [String] {
    let totals = report.totals
    return [
      report.isInterrupted ? "Interrupted: this is what was found so far." : nil,
      "\(report.root): \(count(totals.files, "file")) in \(count(totals.folders, "folder")), "
        + "\(byteCount(totals.bytes)); \(count(totals.links, "link")), "
        + "\(count(totals.special, "special file"))",
    ].compactMap(\.self)
  }

  private func extensions(of report: Report) -> [String] {
    section(
      "By extension",
      report.extensions.prefix(limit).map { total in
        let name = total.name.isEmpty ? "(none)" : "." + escaped(total.name)
        return "\(byteCount(total.bytes).padded) \(name), \(count(total.files, "file"))"
      }, leftOut: report.extensions.count - limit)
  }

  private func largest(of report: Report) -> [String] {
    section("Largest files", report.largest.map { "\(byteCount($0.bytes).padded) \($0.path)" })
  }

  private func duplicates(of report: Report) -> [String] {
    section(
      "Duplicates",
      report.duplicates.prefix(limit).flatMap { group in
        [
          "\(byteCount(group.wasted).padded) wasted by \(group.paths.count) files of "
            + "\(byteCount(group.bytes)):"
        ] + group.paths.map { "\("".padded)   \($0)" }
      }, leftOut: report.duplicates.count - limit)
  }

  private func problems(of report: Report) -> [String] {
    section("Problems", report.problems.map(\.description))
  }

  /// A heading and its lines; nothing if there are no lines.
  private func section(_ heading: String, _ lines: [String], leftOut: Int = 0) -> [String] {
    if lines.isEmpty { return [] }
    let rest = leftOut > 0 ? ["and \(leftOut) more, which --json lists"] : []
    return ["", "\(heading):"] + (lines + rest).map { "  \($0)" }
  }
}

extension String {
  /// The text at the right of a column that is wide enough for any length.
  fileprivate var padded: String {
    String(repeating: " ", count: max(0, 8 - count)) + self
  }
}
