/// What is found in a tree: the listener protocol of everything that counts.
///
/// Its clients need no locks. They belong to the actor that notifies them, `Scan`.
protocol ScanListener: AnyObject {
  func found(_ file: File)
  func foundFolder(_ path: Path)
  func foundLink(_ path: Path)
  func foundSpecial(_ path: Path)
  func finishedFolder(_ path: Path)
  func met(_ problem: Problem)
}

// With a default for each method, a client implements only those that it needs.
extension ScanListener {
  func found(_ file: File) {}
  func foundFolder(_ path: Path) {}
  func foundLink(_ path: Path) {}
  func foundSpecial(_ path: Path) {}
  func finishedFolder(_ path: Path) {}
  func met(_ problem: Problem) {}
}

extension ScanListener {
  /// Calls the method that an event is for.
  func hear(_ event: ScanEvent) {
    switch event {
    case .file(let file): found(file)
    case .folder(let path): foundFolder(path)
    case .link(let path): foundLink(path)
    case .special(let path): foundSpecial(path)
    case .problem(let problem): met(problem)
    case .finishedFolder(let path): finishedFolder(path)
    }
  }
}
