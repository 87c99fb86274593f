/// Puts the finished report somewhere.
@MainActor protocol ReportWriter: AnyObject {
  /// Where it is put.
  var output: Output { get }

  /// The report in the form that is put there.
  func text(of report: Report) throws -> String
}

extension ReportWriter {
  /// Writes the report.
  ///
  /// - Returns: What went wrong, in one line; nil if nothing did.
  func write(_ report: Report) -> String? {
    do {
      try output.write(try text(of: report).utf8)
      return nil
    } catch {
      return "\(output): cannot be written (\(error)); check that its folder exists, that there is "
        + "room and that you may write there"
    }
  }
}
