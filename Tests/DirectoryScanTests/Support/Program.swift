import Foundation
import Testing

/// A run of the built example, as a process of its own, as its users run it.
final class Program {
  /// What a run left behind.
  struct Outcome {
    let status: Int32
    /// The text on standard output.
    let output: String
    /// The text on standard error; empty if this was given a place of its own.
    let errors: String
  }

  private let process = Process()
  private let folder: URL
  private let end: AsyncStream<Never>

  /// Starts the program.
  ///
  /// Its output is kept in files, not pipes: nobody has to read it for the program to go on.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - errors: Where its standard error goes; a file if nil.
  ///   - launcher: A command that starts the program with what it is given, and its arguments.
  init(_ arguments: [String], errors: FileHandle? = nil, launcher: [String] = []) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["output", "errors"] { try Data().write(to: folder.appendingPathComponent(name)) }
    let command = launcher + [try Self.executable().path] + arguments
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(
      forWritingTo: folder.appendingPathComponent("output"))
    process.standardError =
      try errors ?? FileHandle(forWritingTo: folder.appendingPathComponent("errors"))
    let (end, continuation) = AsyncStream.makeStream(of: Never.self)
    self.end = end
    process.terminationHandler = { _ in continuation.finish() }
    try process.run()
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs the program to its end.
  static func run(_ arguments: [String], launcher: [String] = []) async throws -> Outcome {
    try await Program(arguments, launcher: launcher).outcome()
  }

  /// Waits for the end.
  func outcome() async throws -> Outcome {
    for await _ in end {}
    try #require(process.terminationReason == .exit, "the program ended with a signal")
    return Outcome(
      status: process.terminationStatus, output: try text("output"), errors: try text("errors"))
  }

  /// Waits for something that the program does as long as it runs.
  func wait(until condition: () throws -> Bool) async throws {
    while try !condition() {
      try #require(process.isRunning, "the program has ended")
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Does what Ctrl-C does.
  func interrupt() {
    kill(process.processIdentifier, SIGINT)
  }

  /// What stands on standard error so far.
  func errorsSoFar() throws -> String { try text("errors") }

  private func text(_ name: String) throws -> String {
    let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
    return try #require(String(data: bytes, encoding: .utf8), "\(name) is not UTF-8")
  }

  /// The executable stands in the same build folder as the tests, whatever their configuration.
  private static func executable() throws -> URL {
    // The tests are in an executable of this folder on Linux, and in a bundle in it on a Mac.
    let tests = Bundle(for: Program.self).bundleURL
    return try #require(
      [tests, tests.deletingLastPathComponent()]
        .map { $0.appendingPathComponent("DirectoryScan") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) },
      "no program DirectoryScan beside \(tests.path)")
  }
}
