/// Counts everything.
final class Totals: ScanListener, ReportSource {
  private var totals = Report.Totals()

  func found(_ file: File) {
    totals.files += 1
    totals.bytes.addSaturating(file.bytes)
  }

  func foundFolder(_ path: Path) { totals.folders += 1 }
  func foundLink(_ path: Path) { totals.links += 1 }
  func foundSpecial(_ path: Path) { totals.special += 1 }

  func add(to report: inout Report) {
    report.totals = totals
  }
}
