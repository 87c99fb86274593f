import Foundation

struct File: Sendable {
  let path: Path
  let bytes: Int
  let id: FileID
}

/// An item that cannot be read, or a link that leads nowhere.
struct Problem: Sendable, CustomStringConvertible {
  enum Kind: String { case unreadable, brokenLink, linkCycle, vanished }

  let path: Path
  let kind: Kind
  var reason: String?
  var target: Path?

  var description: String {
    switch kind {
    case .unreadable: "\(path): cannot be read (\(reason ?? "")); check that you may read it"
    case .brokenLink:
      "\(path): broken link to \(target ?? ""); restore what it leads to, or remove the link"
    case .linkCycle:
      "\(path): link cycle through \(target ?? ""); remove the link, unless you mean it"
    case .vanished:
      "\(path): vanished during the scan; scan again when nobody changes the folder"
    }
  }
}

extension Problem {
  /// The problem of an item that existed before.
  init(_ path: Path, _ error: SystemError) {
    switch error.code {
    // With the last two, another item has replaced it, or a process in /proc has ended.
    case ENOENT, ENOTDIR, ELOOP, ESRCH: self.init(path: path, kind: .vanished)
    default: self.init(path: path, kind: .unreadable, reason: "\(error)")
    }
  }
}

/// The result of a scan, in an order that does not depend on timing.
struct Report: Sendable {
  struct Totals {
    var files = 0
    var folders = 0
    var links = 0
    var special = 0
    var bytes = 0

    mutating func count(_ file: File) {
      files += 1
      bytes.add(file.bytes)
    }
  }

  let root: Path
  let isInterrupted: Bool
  var totals = Totals()
  var extensions: [(key: Path, value: Totals)] = []
  var largest: [File] = []
  var duplicates: [[File]] = []
  var problems: [Problem] = []
  var progress = Progress()
}

extension [File] {
  /// The bytes that a group of equal files stores more than once.
  var wasted: Int { dropFirst().reduce(into: 0) { $0.add($1.bytes) } }
}

extension Int {
  /// Adds a size, up to the largest number. The sizes of sparse files may overflow.
  mutating func add(_ length: Int) {
    let (sum, overflows) = addingReportingOverflow(length)
    self = overflows ? .max : sum
  }
}
