import Foundation
import Testing

/// A run of a built example in its own process.
final class Program {
  struct Outcome: Equatable {
    var status: Int32 = 0
    var output = ""
    var errors = ""
  }

  private let process = Process()
  private let folder = Tree()

  /// The data that the program writes to standard error, in pieces as it arrives.
  private var errors = AsyncStream<Data> { $0.finish() }.makeAsyncIterator()
  private var errorData = Data()

  /// Finishes when the program exits.
  private let end: AsyncStream<Never>

  /// Starts the program. Its output goes to a file and not to a pipe, which would block the program when it is full.
  ///
  /// - Parameters:
  ///   - directory: The working directory; the tests' if nil.
  ///   - errors: Receives the program's standard error. If nil, ``outcome()`` returns it.
  ///   - launcher: A command that starts the program.
  init(
    _ name: String, _ arguments: [String], in directory: String? = nil, input: String = "",
    errors: FileHandle? = nil, launcher: [String] = []
  ) throws {
    try folder.file("input", input)
    try folder.file("output")
    let hasEnded: AsyncStream<Never>.Continuation
    (end, hasEnded) = AsyncStream.makeStream()
    // On Linux, the tests are an executable beside the program. On a Mac, they are in a bundle beside it.
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
    let pipe = Pipe()
    process.standardError = errors ?? pipe.fileHandleForWriting
    process.terminationHandler = { _ in hasEnded.finish() }
    try process.run()
    try pipe.fileHandleForWriting.close()
    self.errors = Self.data(from: pipe.fileHandleForReading).makeAsyncIterator()
  }

  /// The contents of a file. A separate thread reads them, because reading may block.
  private static func data(from file: FileHandle) -> AsyncStream<Data> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while case let data = file.availableData, !data.isEmpty { continuation.yield(data) }
        continuation.finish()
      }
    }
  }

  deinit {
    // A failed test must not leave a program running that compares huge files.
    if process.isRunning { process.terminate() }
  }

  /// Interrupts the program, as Ctrl-C does, when a text appears on standard error.
  func interrupt(when text: String) async {
    while !errorText.contains(text), let data = await errors.next() { errorData += data }
    process.interrupt()
  }

  /// Returns when the program has exited.
  func outcome() async throws -> Outcome {
    while let data = await errors.next() { errorData += data }
    for await _ in end {}
    try #require(process.terminationReason == .exit)
    return Outcome(
      status: process.terminationStatus, output: try folder.text("output"), errors: errorText)
  }

  private var errorText: String { String(decoding: errorData, as: UTF8.self) }
}

/// A temporary folder, which is removed when this object is deallocated.
final class Tree: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/tree-\(UUID())"

  init() { mkdir(path, 0o755) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String, _ content: String = "") throws {
    try file(name, Data(content.utf8))
  }

  /// Creates a file, and the folders that contain it.
  func file(_ name: String, _ content: Data) throws {
    let file = URL(fileURLWithPath: "\(path)/\(name)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: file)
  }

  /// Creates a sparse file of zeros that ends with a text.
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
