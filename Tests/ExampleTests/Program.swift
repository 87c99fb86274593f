import Foundation
import Testing

/// A run of a built example, as a process of its own, as its users run it.
final class Program {
  struct Outcome: Equatable {
    var status: Int32 = 0
    var output = ""
    var errors = ""
  }

  private let process = Process()
  private let folder = Tree()

  /// Starts the program. Its output goes to files: nobody has to read them for it to go on.
  ///
  /// - Parameters:
  ///   - directory: The working directory; the tests' if nil.
  ///   - errors: Where its standard error goes; a file if nil.
  ///   - launcher: A command that starts the program.
  init(
    _ name: String, _ arguments: [String], in directory: String? = nil, input: String = "",
    errors: FileHandle? = nil, launcher: [String] = []
  ) throws {
    try folder.file("input", input)
    try folder.file("output")
    try folder.file("errors")
    // The tests are in an executable beside the program on Linux, in a bundle on a Mac.
    let tests = Bundle(for: Program.self).bundleURL
    let program = try #require(
      [tests, tests.deletingLastPathComponent()].map { "\($0.path)/\(name)" }
        .first(where: FileManager.default.isExecutableFile))
    let command = launcher + [program] + arguments
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.standardInput = FileHandle(forReadingAtPath: folder.path + "/input")
    process.standardOutput = FileHandle(forWritingAtPath: folder.path + "/output")
    process.standardError = errors ?? FileHandle(forWritingAtPath: folder.path + "/errors")
    try process.run()
  }

  deinit {
    // A test that fails leaves no program behind that compares endless files.
    if process.isRunning { process.terminate() }
  }

  /// Does what Ctrl-C does, when a text stands on standard error.
  ///
  /// Waits on a thread of its own: all tests' tasks share a few, and until one of these had time for this, the
  /// program would take a processor from them.
  func interrupt(when text: String) async {
    let id = process.processIdentifier
    await withCheckedContinuation { [folder] continuation in
      Thread.detachNewThread {
        while kill(id, 0) == 0, (try? folder.text("errors"))?.contains(text) != true {
          usleep(10_000)
        }
        kill(id, SIGINT)
        continuation.resume()
      }
    }
  }

  /// Waits for the end.
  func outcome() async throws -> Outcome {
    while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
    try #require(process.terminationReason == .exit)
    return Outcome(
      status: process.terminationStatus, output: try folder.text("output"),
      errors: try folder.text("errors"))
  }
}

/// A folder with a tree in it, which is removed when this ends.
final class Tree: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/tree-\(UUID())"

  init() { mkdir(path, 0o755) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String, _ content: String = "") throws {
    try file(name, Data(content.utf8))
  }

  /// Makes a file, with the folders above it.
  func file(_ name: String, _ content: Data) throws {
    let file = URL(fileURLWithPath: "\(path)/\(name)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: file)
  }

  /// Makes a file of zeros that takes no room, and ends with a text.
  func file(_ name: String, bytes: Int, endingWith end: String = "") throws {
    try file(name)
    let file = try #require(FileHandle(forWritingAtPath: "\(path)/\(name)"))
    try file.truncate(atOffset: UInt64(bytes - end.utf8.count))
    try file.seekToEnd()
    try file.write(contentsOf: Data(end.utf8))
  }

  func link(_ name: String, to target: String) throws {
    try #require(symlink(target, "\(path)/\(name)") == 0)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"), encoding: .utf8)
  }
}
