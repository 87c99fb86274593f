import Foundation
import Testing

/// A folder with a tree in it, which is removed when this ends.
///
/// Names are given as text or as bytes, since some of them are not UTF-8.
final class Tree {
  let path: String

  /// The outermost folders of chains, by their names.
  private var chains: [String] = []

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tree-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit {
    chains.forEach(takeApart)
    // Foundation loses names that are not UTF-8, and its processes are waited for in a run loop.
    let words: [String] = ["rm", "-rf", path]
    var arguments = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    if posix_spawn(&process, "/bin/rm", nil, nil, &arguments, nil) == 0 {
      waitpid(process, nil, 0)
    }
  }

  /// Makes a folder, with those above it.
  func folder(_ name: String, mode: mode_t = 0o755) throws {
    var path = Array(self.path.utf8)
    for part in name.utf8.split(separator: UInt8(ascii: "/")) {
      path += [UInt8(ascii: "/")] + part
      let wasMade = mkdir(cString(path), 0o755) == 0
      try #require(wasMade || errno == EEXIST)
    }
    try setMode(mode, of: name)
  }

  /// Makes a file.
  func file(_ name: some Sequence<UInt8>, _ content: String = "") throws {
    let descriptor = open(cString(at(name)), O_WRONLY | O_CREAT | O_EXCL, 0o644)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array(content.utf8)
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  func file(_ name: String, _ content: String = "") throws {
    try file(Array(name.utf8), content)
  }

  /// Makes a file of zeros that takes no room, and ends with a text.
  func file(_ name: String, bytes: Int, endingWith end: String = "") throws {
    try file(name)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)/\(name)"))
    try file.truncate(atOffset: UInt64(bytes - end.utf8.count))
    try file.seekToEnd()
    if end.isEmpty { return }
    try file.write(contentsOf: Data(end.utf8))
  }

  /// Makes a symbolic link.
  func link(_ name: String, to target: String) throws {
    try #require(symlink(target, "\(path)/\(name)") == 0)
  }

  /// Gives a file a second name.
  func secondName(_ name: String, of file: String) throws {
    try #require(Foundation.link("\(path)/\(file)", "\(path)/\(name)") == 0)
  }

  /// Makes a pipe with a name.
  func pipe(_ name: String) throws {
    try #require(mkfifo("\(path)/\(name)", 0o644) == 0)
  }

  func setMode(_ mode: mode_t, of name: String) throws {
    try #require(chmod("\(path)/\(name)", mode) == 0)
  }

  /// Makes folders inside each other, and a file in the innermost one.
  ///
  /// - Returns: The path of this file from the tree's folder on, which may be longer than the system
  ///   takes.
  func chain(of name: String, depth: Int, file: String, _ content: String) throws -> String {
    chains.append(name)
    var folder = open(path, O_RDONLY | O_DIRECTORY)
    for _ in 0..<depth {
      try #require(mkdirat(folder, name, 0o755) == 0)
      let inner = openat(folder, name, O_RDONLY | O_DIRECTORY)
      close(folder)
      folder = inner
    }
    defer { close(folder) }
    let descriptor = openat(folder, file, O_WRONLY | O_CREAT | O_EXCL, 0o644)
    defer { close(descriptor) }
    let bytes = Array(content.utf8)
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    return String(repeating: "\(name)/", count: depth) + file
  }

  /// Leaves only the innermost folder of a chain. The `rm` of macOS gives up at paths that are too long.
  private func takeApart(_ name: String) {
    let (outer, inner) = ("\(path)/\(name)", "\(path)/\(name)/\(name)")
    let moved = "\(path)/\(UUID())"
    while rename(inner, moved) == 0 && rmdir(outer) == 0 && rename(moved, outer) == 0 {}
  }

  private func at(_ name: some Sequence<UInt8>) -> [UInt8] {
    Array("\(path)/".utf8) + name
  }

  private func cString(_ bytes: [UInt8]) -> [CChar] {
    (bytes + [0]).map(CChar.init(bitPattern:))
  }
}
