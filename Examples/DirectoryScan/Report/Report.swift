/// What a scan has found, in an order that does not depend on how it ran.
struct Report: Sendable {
  /// The folder that was scanned, as it was given.
  let root: Path

  /// Whether the scan ended before it had seen everything.
  let isInterrupted: Bool

  var totals = Totals()
  /// The one with the most bytes first.
  var extensions: [Extension] = []
  /// The largest one first.
  var largest: [File] = []
  /// The group that wastes the most bytes first.
  var duplicates: [Duplicates] = []
  /// In the order of their paths.
  var problems: [Problem] = []

  init(root: Path, isInterrupted: Bool) {
    self.root = root
    self.isInterrupted = isInterrupted
  }
}

extension Report {
  struct Totals: Encodable {
    var files = 0
    /// The scanned one is counted, too.
    var folders = 0
    var links = 0
    /// Devices, pipes and sockets.
    var special = 0
    /// Of all names: a file with several is counted as often.
    var bytes = 0
  }

  struct Extension {
    /// In lower case; empty for files without one.
    let name: [UInt8]
    var files = 0
    var bytes = 0
  }

  /// Files of equal content, of which there are at least two.
  struct Duplicates {
    /// The size of each.
    let bytes: Int
    /// In their order.
    let paths: [Path]

    init(_ files: [File]) {
      bytes = files[0].bytes
      paths = files.map(\.path).sorted()
    }

    /// What is stored more than once.
    var wasted: Int {
      let (wasted, overflows) = bytes.multipliedReportingOverflow(by: paths.count - 1)
      return overflows ? .max : wasted
    }
  }
}
