import Foundation
import Testing

/// Runs the built example as a process of its own, as its users do.
enum Program {
  /// What a run left behind.
  struct Outcome: Equatable {
    var status: Int32
    var output: [String]
    var errors: [String]
  }

  /// Runs the program, in a folder that holds the given file and nothing else.
  ///
  /// Its input and output are files, not pipes: there is no order in which they have to be read,
  /// and no other process can keep them open.
  static func run(
    _ arguments: [String] = [], file: (name: String, content: Data)? = nil, input: Data = Data()
  ) async throws -> Outcome {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appendingPathComponent("LoginSession-\(UUID())")
    let working = folder.appendingPathComponent("working")
    try files.createDirectory(at: working, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: folder) }
    if let file {
      try file.content.write(to: working.appendingPathComponent(file.name))
    }
    let inputFile = folder.appendingPathComponent("input")
    let outputFile = folder.appendingPathComponent("output")
    let errorsFile = folder.appendingPathComponent("errors")
    try input.write(to: inputFile)
    try Data().write(to: outputFile)
    try Data().write(to: errorsFile)

    let process = Process()
    process.executableURL = try executable()
    process.arguments = arguments
    process.currentDirectoryURL = working
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    process.standardOutput = try FileHandle(forWritingTo: outputFile)
    process.standardError = try FileHandle(forWritingTo: errorsFile)
    try await process.runToEnd()

    try #require(process.terminationReason == .exit, "the program ended with a signal")
    return Outcome(
      status: process.terminationStatus,
      output: try lines(of: outputFile),
      errors: try lines(of: errorsFile))
  }

  /// The lines of a text file, each of which must have its line feed.
  static func lines(of file: URL) throws -> [String] {
    var lines = try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    try #require(lines.popLast() == "", "the last line of \(file.lastPathComponent) does not end")
    return lines
  }

  /// The executable stands in the same build folder as the tests, whatever their configuration.
  private static func executable() throws -> URL {
    // The tests are in an executable of this folder on Linux, and in a bundle in it on a Mac.
    let tests = Bundle(for: Anchor.self).bundleURL
    let folders = [
      tests, tests.deletingLastPathComponent(), Bundle.module.bundleURL.deletingLastPathComponent(),
    ]
    return try #require(
      folders.map { $0.appendingPathComponent("LoginSession") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) },
      "no program LoginSession in any of \(folders.map(\.path))")
  }

  /// A class of the tests, by which their bundle is found.
  private final class Anchor {}
}

extension Process {
  /// Starts the process and waits for its end, without blocking a thread.
  fileprivate func runToEnd() async throws {
    try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
      terminationHandler = { _ in end.resume() }
      do {
        try run()
      } catch {
        end.resume(throwing: error)
      }
    }
  }
}
