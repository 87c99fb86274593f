import Foundation
import Multicast

/// What the scanner announces, in its actor, so that clients need no locks. Every method has a default.
@ScanActor protocol ScanListener: AnyObject {
  func found(_ file: File)
  func found(_ other: OtherItem)
  func met(_ problem: Problem)
  /// Returns groups of files to compare. Files in no group are not read.
  func filesToCompare() -> [[File]]
  func compared(bytes: Int)
  func foundEqual(_ files: [File])
}

extension ScanListener {
  func found(_ file: File) {}
  func found(_ other: OtherItem) {}
  func met(_ problem: Problem) {}
  func filesToCompare() -> [[File]] { [] }
  func compared(bytes: Int) {}
  func foundEqual(_ files: [File]) {}
}

/// Devices, pipes and sockets are special.
enum OtherItem { case folder, link, special }

@globalActor actor ScanActor { static let shared = ScanActor() }

/// Scans a folder and announces what it finds. It knows the center and no listener.
@ScanActor struct Scanner {
  let center: MulticastCenter

  /// Returns when everything is scanned, or after Ctrl-C.
  func scan(_ root: String) {
    var root = root
    while root.hasSuffix("/") { root.removeLast() }
    // With a slash at its end, a path follows a link.
    var waiting = [root + "/"]
    center.notify(ScanListener.self) { $0.found(.folder) }
    while !isInterrupted, let folder = waiting.popLast() { waiting += read(folder) }
    for group in center.map(ScanListener.self, { $0.filesToCompare() }).joined() { compare(group) }
  }

  /// Announces the items of a folder, and returns its subfolders.
  private func read(_ folder: String) -> [String] {
    guard let stream = opendir(folder) else {
      meet(Problem(path: folder))
      return []
    }
    defer { closedir(stream) }
    var (files, subfolders) = ([File](), [String]())
    while !isInterrupted {
      // The end of the folder leaves it at 0.
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { meet(Problem(path: folder)) }
        break
      }
      // A name may be longer than the entry's type.
      let bytes = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
      let name = String(cString: bytes.assumingMemoryBound(to: CChar.self))
      if name == "." || name == ".." { continue }
      let path = folder + name
      var status = stat()
      switch lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil {
      case nil: meet(Problem(path: path))
      case S_IFREG:
        let id = [UInt64(status.st_dev), UInt64(status.st_ino)]
        files.append(File(path: path, bytes: Int(status.st_size), id: id))
      case S_IFDIR:
        center.notify(ScanListener.self) { $0.found(.folder) }
        subfolders.append(path + "/")
      case S_IFLNK:
        center.notify(ScanListener.self) { $0.found(.link) }
        if let problem = Problem(link: path, in: folder) { meet(problem) }
      default: center.notify(ScanListener.self) { $0.found(.special) }
      }
    }
    // Calls the first listener with all files, then the next one.
    center[ScanListener.self].notify(forEach: files) { $0.found($1) }
    return subfolders
  }

  private func meet(_ problem: Problem) {
    center.notify(ScanListener.self) { $0.met(problem) }
  }

  /// Announces which files of equal size have equal content. Compares slice by slice.
  private func compare(_ files: [File]) {
    var groups = [(files, 0)]
    while !isInterrupted, let (files, offset) = groups.popLast() {
      // The slices of all files must fit in memory.
      let length = min(files[0].bytes - offset, max(512, min(1 << 20, (64 << 20) / files.count)))
      var filesBySlice: [Data: [File]] = [:]
      for file in files {
        if let slice = file.read(length, at: offset) {
          filesBySlice[slice, default: []].append(file)
        } else {
          meet(Problem(path: file.path))
        }
      }
      center.notify(ScanListener.self) { $0.compared(bytes: files.count * length) }
      for files in filesBySlice.values where files.count > 1 {
        if offset + length < files[0].bytes {
          groups.append((files, offset + length))
        } else {
          center.notify(ScanListener.self) { $0.foundEqual(files) }
        }
      }
    }
  }
}

struct File: Encodable {
  let path: String
  let bytes: Int
  /// The device and the inode: the same for all names of a file.
  let id: [UInt64]

  fileprivate func read(_ length: Int, at offset: Int) -> Data? {
    let file = open(path, O_RDONLY)
    if file < 0 { return nil }
    defer { close(file) }
    var slice = Data(count: length)
    let count = slice.withUnsafeMutableBytes { pread(file, $0.baseAddress, length, off_t(offset)) }
    return count < 0 ? nil : slice.prefix(count)
  }
}

/// An item that cannot be read, or a link that leads nowhere.
struct Problem: Encodable {
  let path: String
  let problem: String

  /// The problem of the last system call, with an item that existed before.
  fileprivate init(path: String) {
    self.path = path
    problem =
      [ENOENT, ENOTDIR, ELOOP].contains(errno)
      ? "vanished during the scan; scan again when the folder is not being changed"
      : "cannot be read (\(String(cString: strerror(errno)))); check that you may read it"
  }

  /// The problem of a link; nil if the link is fine.
  fileprivate init?(link path: String, in folder: String) {
    func resolved(_ path: String) -> String {
      URL(fileURLWithPath: path).resolvingSymlinksInPath().path + "/"
    }
    var status = stat()
    var isCycle = stat(path, &status) != 0 && errno == ELOOP
    if status.st_mode != 0 {
      isCycle = resolved(folder).hasPrefix(resolved(path).replacingOccurrences(of: "//", with: "/"))
      if !isCycle { return nil }
    }
    let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
    let name = isCycle ? "link cycle through" : "broken link to"
    self.path = path
    problem = "\(name) \(target.debugDescription); remove the link, unless you mean it"
  }
}
