/// The error of a wait for a record that a test's end or its time limit has ended.
public struct NothingRecorded: Error, CustomStringConvertible {
  /// What was waited for, and what was recorded until then.
  public let description: String

  init<Element>(_ wanted: String, in recording: Recording<Element>) {
    let all = recording.all
    let records = all.enumerated().map { "\n  \($0.offset + 1). \($0.element)" }.joined()
    description =
      "The wait for \(wanted) was cancelled, as by a time limit. "
      + (all.isEmpty ? "Nothing was recorded." : "Recorded until then:\(records)")
  }
}
