final class Totals: ScanListener, ReportSource {
  private var totals = Report.Totals()

  func found(_ file: File) { totals.count(file) }
  func foundFolder(_ path: Path) { totals.folders += 1 }
  func foundLink(_ path: Path) { totals.links += 1 }
  func foundSpecial(_ path: Path) { totals.special += 1 }

  func add(to report: inout Report) { report.totals = totals }
}

final class ExtensionTotals: ScanListener, ReportSource {
  private var totals: [Path: Report.Totals] = [:]

  func found(_ file: File) {
    totals[file.path.lowercasedExtension, default: Report.Totals()].count(file)
  }

  func add(to report: inout Report) {
    report.extensions = totals.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
  }
}

final class LargestFiles: ScanListener, ReportSource {
  private var largest: [File] = []

  func found(_ file: File) {
    let index = largest.firstIndex { ($0.bytes, file.path) < (file.bytes, $0.path) }
    if index == nil, largest.count == 10 { return }
    largest.insert(file, at: index ?? largest.endIndex)
    if largest.count > 10 { largest.removeLast() }
  }

  func add(to report: inout Report) { report.largest = largest }
}

final class ProblemList: ScanListener, ReportSource {
  private var problems: [Problem] = []

  func met(_ problem: Problem) { problems.append(problem) }

  func add(to report: inout Report) {
    report.problems = problems.sorted { ($0.path, $0.description) < ($1.path, $1.description) }
  }
}
