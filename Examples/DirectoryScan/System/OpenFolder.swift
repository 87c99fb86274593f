import Foundation

#if canImport(Darwin)
  private typealias Stream = UnsafeMutablePointer<DIR>
#else
  private typealias Stream = OpaquePointer
#endif

/// An open folder, which is closed when this ends.
struct OpenFolder: ~Copyable {
  private let stream: Stream

  /// Opens a folder.
  ///
  /// - Parameters:
  ///   - path: The path. A link in its last place is not followed.
  init(_ path: Path) throws(SystemError) {
    let folder = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard let stream = fdopendir(folder.number) else { throw .last }
    // The stream has taken over the descriptor.
    folder.giveAway()
    self.stream = stream
  }

  deinit {
    closedir(stream)
  }

  var descriptor: Int32 { dirfd(stream) }

  /// The names of all items, in the order of the system.
  ///
  /// - Returns: The names, and the error that ended them too early, if there was one.
  func names() -> ([Name], SystemError?) {
    var names: [Name] = []
    while true {
      // Only this tells the end from an error.
      errno = 0
      guard let entry = readdir(stream) else {
        let error = SystemError.last
        return (names, error.code == 0 ? nil : error)
      }
      let name = Self.name(of: entry)
      if name != [Path.dot], name != [Path.dot, Path.dot] { names.append(name) }
    }
  }

  /// The name in an entry, which may be shorter and longer than the entry's type says.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> Name {
    let start = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
    let bytes = UnsafeRawBufferPointer(
      start: start, count: strlen(start.assumingMemoryBound(to: CChar.self)))
    return Name(bytes)
  }
}
