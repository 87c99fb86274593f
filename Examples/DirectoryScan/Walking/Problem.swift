/// Something in the tree that could not be scanned, or that leads nowhere.
struct Problem: Sendable {
  enum Kind: Sendable {
    /// The system does not let it be read, for this reason.
    case unreadable(reason: String)
    /// A symbolic link to what does not exist.
    case brokenLink(target: Path)
    /// A symbolic link to itself, or to a folder that it stands in.
    case linkCycle(target: Path)
    /// It was there, and is no longer.
    case vanished
  }

  let path: Path
  let kind: Kind

  init(_ path: Path, _ kind: Kind) {
    self.path = path
    self.kind = kind
  }

  /// What an error means with an item that was there before.
  init(_ path: Path, _ error: SystemError) {
    self.init(path, error.meansVanished ? .vanished : .unreadable(reason: error.description))
  }
}

extension Problem: CustomStringConvertible {
  /// The problem in one line: where it is, what is wrong, and what to do about it.
  var description: String {
    let problem =
      switch kind {
      case .unreadable(let reason):
        "cannot be read (\(reason)); check that you may read it"
      case .brokenLink(let target):
        "broken link to \(target); restore what it leads to, or remove the link"
      case .linkCycle(let target):
        "link cycle through \(target); remove the link, unless you mean it"
      case .vanished:
        "vanished during the scan; scan again when nobody changes the folder"
      }
    return "\(path): \(problem)"
  }
}
