import Foundation

/// What the system says about an item: what it is, how long, and which one.
struct Status {
  enum Kind {
    case file, folder, link, special
  }

  let kind: Kind
  let bytes: Int
  let id: FileID

  /// The status of an item in an open folder.
  ///
  /// - Parameters:
  ///   - name: Its name, or a path from the folder on.
  ///   - folder: The number of the folder's descriptor, or `AT_FDCWD`.
  ///   - followingLinks: Whether what a link leads to is meant, and not the link itself.
  init(
    of name: some Collection<UInt8>, in folder: Int32 = AT_FDCWD, followingLinks: Bool
  ) throws(SystemError) {
    var status = stat()
    try callSystem(with: name) {
      fstatat(folder, $0, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW)
    }
    self.init(status)
  }

  /// The status of an open file or folder.
  init(of descriptor: Int32) throws(SystemError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .last }
    self.init(status)
  }

  private init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .special
      }
    bytes = Int(status.st_size)
    // The types of the fields differ from system to system.
    id = FileID(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      inode: UInt64(truncatingIfNeeded: status.st_ino))
  }
}

/// Which file or folder it is, whatever its names.
struct FileID: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}
