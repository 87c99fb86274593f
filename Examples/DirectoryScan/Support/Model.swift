import Foundation

/// A file that was found.
struct File: Sendable {
  let path: Path
  let bytes: Int
  let id: FileID
}

/// What could not be read, or leads nowhere.
struct Problem: Sendable, CustomStringConvertible {
  enum Kind: String { case unreadable, brokenLink, linkCycle, vanished }

  let path: Path
  let kind: Kind
  var reason: String?
  var target: Path?

  /// Where it is, what is wrong, and what to do about it.
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
  /// What an error means for an item that was there before.
  init(_ path: Path, _ error: SystemError) {
    switch error.code {
    // The last two say that it is something else by now, or a process in /proc that has ended.
    case ENOENT, ENOTDIR, ELOOP, ESRCH: self.init(path: path, kind: .vanished)
    default: self.init(path: path, kind: .unreadable, reason: "\(error)")
    }
  }
}

/// What a scan has found, in an order that does not depend on how it ran.
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
  /// What files of equal content store more than once.
  var wasted: Int { dropFirst().reduce(into: 0) { $0.add($1.bytes) } }
}

extension Int {
  /// Adds a length, and stops at the greatest number: sparse files may well be longer together.
  mutating func add(_ length: Int) {
    let (sum, overflows) = addingReportingOverflow(length)
    self = overflows ? .max : sum
  }
}
