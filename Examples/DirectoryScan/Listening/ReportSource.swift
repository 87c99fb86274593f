/// A listener that has something to say in the report.
protocol ReportSource: AnyObject {
  func add(to report: inout Report)
}
