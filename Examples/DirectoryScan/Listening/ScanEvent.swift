/// What the scanner announces.
enum ScanEvent: Sendable {
  case file(File)
  case folder(Path)
  /// A symbolic link.
  case link(Path)
  /// A device, a pipe or a socket.
  case special(Path)
  case problem(Problem)
  /// All of a folder was read that can be read, less its subfolders.
  case finishedFolder(Path)
}
