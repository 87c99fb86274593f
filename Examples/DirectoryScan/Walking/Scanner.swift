import Multicast

/// Walks over a tree, and announces what it finds. It knows the center, and none of those who listen.
struct Scanner {
  private let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
  }

  /// Walks over the tree in parallel tasks, until nothing is left or the task is cancelled.
  ///
  /// Listeners are notified in the caller's isolation, and in no particular order of folders.
  ///
  /// - Parameter root: The path of a folder. If it is a link, this one is followed.
  nonisolated(nonsending) func scan(_ root: Path) async {
    // With a slash at its end, what a link leads to is meant.
    let root = root.withoutSlashesAtEnd.appending([])
    announce([.folder(root)])
    await inParallel([UnreadFolder(path: root, above: Self.foldersAbove(root))]) { folder in
      var reader = FolderReader(folder)
      reader.read()
      return reader
    } take: { reader in
      announce(reader.events)
      return reader.unread
    }
  }

  /// Tells every listener of a batch of events.
  private func announce(_ events: [ScanEvent]) {
    center.notify(ScanListener.self, forEach: events) { listener, event in
      listener.hear(event)
    }
  }

  /// The folders that a folder stands in, up to the root of the file system.
  private static func foldersAbove(_ path: Path) -> [FileID] {
    var above: [FileID] = []
    var path = path
    while true {
      path = path.appending([Path.dot, Path.dot])
      // The root of the file system stands in itself.
      guard let id = try? Status(of: path.bytes, followingLinks: true).id, id != above.last else {
        return above
      }
      above.append(id)
    }
  }
}
