/// Reads a part of the tree, and remembers what it found: the work of one task.
///
/// It reads on into subfolders until it has enough, so that tasks and batches of events are neither
/// too small nor too big, whether the tree is of many small folders or of a few huge ones.
struct FolderReader {
  private(set) var events: [ScanEvent] = []

  /// What was found and is not read yet; the last one is next.
  private(set) var unread: [UnreadFolder]

  /// How many events are enough.
  private static let batch = 1000

  init(_ folder: UnreadFolder) {
    unread = [folder]
  }

  /// Reads until there are enough events, or nothing is left.
  mutating func read() {
    while events.count < Self.batch, !Task.isCancelled, let folder = unread.popLast() {
      do throws(SystemError) {
        try read(folder)
      } catch {
        events.append(.problem(Problem(folder.path, error)))
        events.append(.finishedFolder(folder.path))
      }
    }
  }

  private mutating func read(_ folder: UnreadFolder) throws(SystemError) {
    let open = try OpenFolder(folder.path)
    let inside = folder.above + [try Status(of: open.descriptor).id]
    let names = folder.names ?? allNames(in: open, at: folder.path)
    let rest = names.dropFirst(Self.batch)
    if !rest.isEmpty {
      unread.append(UnreadFolder(path: folder.path, above: folder.above, names: rest))
    }
    for name in names.prefix(Self.batch) {
      let path = folder.path.appending(name)
      do throws(SystemError) {
        let status = try Status(of: name, in: open.descriptor, followingLinks: false)
        switch status.kind {
        case .file:
          events.append(.file(File(path: path, bytes: status.bytes, id: status.id)))
        case .folder:
          events.append(.folder(path))
          unread.append(UnreadFolder(path: path, above: inside))
        case .link:
          events.append(.link(path))
          if let problem = LinkTarget.problem(with: name, in: open.descriptor, inside: inside) {
            events.append(.problem(Problem(path, problem)))
          }
        case .special:
          events.append(.special(path))
        }
      } catch {
        events.append(.problem(Problem(path, error)))
      }
    }
    if rest.isEmpty { events.append(.finishedFolder(folder.path)) }
  }

  private mutating func allNames(
    in folder: borrowing OpenFolder, at path: Path
  ) -> ArraySlice<Name> {
    let (names, error) = folder.names()
    if let error { events.append(.problem(Problem(path, error))) }
    return names[...]
  }
}
