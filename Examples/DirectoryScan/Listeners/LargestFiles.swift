/// Keeps the largest files; of files of equal size, those whose path comes first.
final class LargestFiles: ScanListener, ReportSource {
  /// The largest one first.
  private var largest: [File] = []
  private let limit: Int

  init(limit: Int = 10) {
    self.limit = limit
  }

  func found(_ file: File) {
    // Most files go no further than this.
    if largest.count == limit, let last = largest.last, !Self.comes(file, before: last) { return }
    let place = largest.firstIndex { Self.comes(file, before: $0) } ?? largest.endIndex
    largest.insert(file, at: place)
    if largest.count > limit { largest.removeLast() }
  }

  func add(to report: inout Report) {
    report.largest = largest
  }

  private static func comes(_ one: File, before other: File) -> Bool {
    one.bytes != other.bytes ? one.bytes > other.bytes : one.path < other.path
  }
}
