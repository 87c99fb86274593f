import Foundation
import Testing

/// A run of a built example, as a process of its own, as its users run it.
final class Program {
  struct Outcome: Equatable {
    var status: Int32 = 0
    var output = ""
    var errors = ""

    var report: ScanReport { get throws { try ScanReport(output) } }
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
    _ arguments: [String], of name: String = "DirectoryScan", in directory: String? = nil,
    input: String = "", errors: FileHandle? = nil, launcher: [String] = []
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

  static func run(_ arguments: String..., launcher: [String] = []) async throws -> Outcome {
    try await Program(arguments, launcher: launcher).outcome()
  }

  static func scan(_ path: String, launcher: [String] = []) async throws -> ScanReport {
    try await run("--quiet", "--json", "-", path, launcher: launcher).report
  }

  /// Waits for a text on standard error while the program runs.
  func wait(for text: String) async throws {
    while try !folder.text("errors").contains(text) {
      try #require(process.isRunning)
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Does what Ctrl-C does, when `condition` holds while the program runs.
  ///
  /// Waits on a thread of its own: all tests' tasks share a few, and until one of these had time for this, the
  /// program would take a processor from them.
  func interrupt(when condition: @escaping @Sendable () -> Bool) async {
    let id = process.processIdentifier
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        while kill(id, 0) == 0, !condition() { usleep(10_000) }
        kill(id, SIGINT)
        continuation.resume()
      }
    }
  }

  /// Does so when a text stands on standard error.
  func interrupt(when text: String) async {
    await interrupt { [folder] in (try? folder.text("errors"))?.contains(text) == true }
  }

  /// Waits for the end.
  ///
  /// - Parameter meanwhile: Is called again and again until then.
  func outcome(meanwhile: () -> Void = {}) async throws -> Outcome {
    while process.isRunning {
      meanwhile()
      try await Task.sleep(for: .milliseconds(10))
    }
    try #require(process.terminationReason == .exit)
    return Outcome(
      status: process.terminationStatus, output: try folder.text("output"),
      errors: try folder.text("errors"))
  }
}
