import Foundation
import Testing

/// A folder with a tree in it, which is removed when this ends.
final class Tree: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/tree-\(UUID())"

  init() { mkdir(path, 0o755) }

  deinit {
    // Foundation loses names that are not UTF-8, and waits for its processes in a run loop.
    let words = ["rm", "-rf", path]
    var arguments = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    if posix_spawn(&process, "/bin/rm", nil, nil, &arguments, nil) == 0 {
      waitpid(process, nil, 0)
    }
  }

  /// Makes a folder, with those above it.
  func folder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(name)", withIntermediateDirectories: true)
  }

  func file(_ name: String, _ content: String = "") throws {
    try file(name, Data(content.utf8))
  }

  func file(_ name: String, _ content: Data) throws {
    try content.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  /// Makes a file of zeros that takes no room, and ends with a text.
  func file(_ name: String, bytes: Int, endingWith end: String = "") throws {
    try file(name)
    let file = try #require(FileHandle(forWritingAtPath: "\(path)/\(name)"))
    try file.truncate(atOffset: UInt64(bytes - end.utf8.count))
    try file.seekToEnd()
    try file.write(contentsOf: Data(end.utf8))
  }

  /// Makes files whose comparing takes longer than any test waits.
  func endlessFiles() throws {
    for name in ["one.txt", "two.txt"] { try file(name, bytes: 1 << 40) }
  }

  func link(_ name: String, to target: String) throws {
    try #require(symlink(target, "\(path)/\(name)") == 0)
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
  }

  func text(_ name: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"), encoding: .utf8)
  }
}
