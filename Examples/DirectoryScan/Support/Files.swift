import Foundation

/// The error of the last system call.
struct SystemError: Error, CustomStringConvertible {
  let code = errno

  var description: String { String(cString: strerror(code)) }
}

/// Identifies a file or folder, whatever its names.
struct FileID: Hashable {
  let device: dev_t
  let inode: ino_t
}

extension stat {
  init(of path: Path, in folder: Int32 = AT_FDCWD, following: Bool = false) throws(SystemError) {
    self.init()
    let flags = following ? 0 : AT_SYMLINK_NOFOLLOW
    if fstatat(folder, path.bytes + [0], &self, flags) != 0 { throw SystemError() }
  }

  var kind: mode_t { st_mode & S_IFMT }
  var id: FileID { FileID(device: st_dev, inode: st_ino) }
}

extension Path {
  /// Opens the path. Opens a path that is too long for the system part by part.
  func open(_ flags: Int32, in folder: Int32 = AT_FDCWD) throws(SystemError) -> Int32 {
    let start = bytes.prefix(Int(PATH_MAX) - 1)
    if start.count < bytes.count, let end = start.lastIndex(of: Self.slash), end > 0 {
      let part = try Path(bytes[..<end]).open(O_DIRECTORY, in: folder)
      defer { close(part) }
      return try Path(bytes[end...].drop { $0 == Self.slash }).open(flags, in: part)
    }
    let path = (bytes + [0]).map { CChar(bitPattern: $0) }
    let descriptor = openat(folder, path, flags | O_CLOEXEC, 0o666)
    if descriptor == -1 { throw SystemError() }
    return descriptor
  }

  /// The target of the link with this name; empty if it cannot be read.
  func target(in folder: Int32) -> Path {
    Path(
      [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
        count = max(0, readlinkat(folder, bytes + [0], buffer.baseAddress!, buffer.count))
      })
  }
}

/// Writes a text. Ends without an error if the reader of a pipe has closed it.
func put(_ text: String, to descriptor: Int32) throws(SystemError) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count == -1, errno == EPIPE { return }
    if count == -1 { throw SystemError() }
    rest.removeFirst(count)
  }
}

struct Slice: Hashable {
  private let data: Data

  /// Reads the slice. Returns nil if the file has changed since it was found.
  init?(of file: File, at offset: Int, _ length: Int) throws(SystemError) {
    // Does not wait for a pipe or follow a link that has replaced the file.
    let descriptor = try file.path.open(O_NONBLOCK | O_NOFOLLOW)
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw SystemError() }
    guard status.id == file.id, status.st_size == file.bytes else { return nil }
    var data = Data(count: length)
    let count = data.withUnsafeMutableBytes {
      pread(descriptor, $0.baseAddress, length, off_t(offset))
    }
    if count == -1 { throw SystemError() }
    // Files in /proc and /sys may be shorter than their sizes.
    if count < length { return nil }
    self.data = data
  }

  /// `Data` hashes only its first bytes, which many files share.
  func hash(into hasher: inout Hasher) {
    data.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
