import Foundation
import Synchronization
import Testing

/// A program that a test has started. It is killed when the test lets it go.
final class Program: Sendable {
  private let process: Mutex<Process>
  private let folder: URL

  init(_ path: String, _ arguments: [String]) throws {
    let process = Process()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Chat-\(UUID())")
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments.map { $0.replacing("FOLDER", with: folder.path) }
    process.standardInput = FileHandle.nullDevice
    for (name, keyPath) in [("out", \Process.standardOutput), ("err", \Process.standardError)] {
      let file = folder.appendingPathComponent(name)
      try Data().write(to: file)
      process[keyPath: keyPath] = try FileHandle(forWritingTo: file)
    }
    try process.run()
    self.process = Mutex(process)
  }

  deinit {
    if isRunning { signal(SIGKILL) }
    process.withLock { $0.waitUntilExit() }
    try? FileManager.default.removeItem(at: folder)
  }

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  func text(_ name: String) -> String {
    (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }
  var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
  var isRunning: Bool { process.withLock { $0.isRunning } }
  func signal(_ signal: Int32) { kill(process.withLock { $0.processIdentifier }, signal) }

  /// Waits for the end.
  func status() async throws -> Int32 {
    try await eventually("the program ends") { !self.isRunning }
    return process.withLock { $0.terminationStatus }
  }

  func kill9() async throws {
    signal(SIGKILL)
    _ = try await status()
  }

  /// The folder of the built programs.
  static func built(_ name: String) throws -> String {
    let tests = Bundle(for: Program.self).bundleURL
    return try #require(
      [tests, tests.deletingLastPathComponent()].map { $0.appendingPathComponent(name).path }
        .first { FileManager.default.isExecutableFile(atPath: $0) })
  }
}

/// Waits for something that has to happen, however slow the machine is.
nonisolated(nonsending) func eventually(
  _ what: String, _ location: SourceLocation = #_sourceLocation,
  _ holds: nonisolated(nonsending) () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(120)
  while try await !holds() {
    try #require(ContinuousClock.now < end, "\(what) never came true", sourceLocation: location)
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// A running server.
final class Server: Sendable {
  let program: Program
  let port: Int

  init(_ name: String, port wanted: Int = 0, _ arguments: String...) async throws {
    program = try Program(
      Program.built("ChatServer"), ["--port", "\(wanted)", "--name", name] + arguments)
    try await eventually("\(name) listens") { [program] in
      try #require(program.isRunning, "\(program.text("err"))")
      return program.text("out").hasSuffix("\n")
    }
    self.port = try #require(
      Int(program.text("out").dropLast().split(separator: ":").last ?? ""))
  }

  var address: String { "http://127.0.0.1:\(port)" }

  func metric(_ start: String) async throws -> Int {
    let line = try await get("/metrics").split(separator: "\n").first { $0.hasPrefix(start) }
    return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
  }

  func get(_ path: String) async throws -> String {
    try await withWire(port) { wire in
      var wire = wire
      return try await wire.ask("GET", path).text
    }
  }
}

/// A running nats-server.
final class Engine: Sendable {
  let program: Program
  let port: Int

  init(port: Int? = nil, maxPayload: Int? = nil) async throws {
    var arguments = ["-a", "127.0.0.1", "-p", "\(port ?? -1)", "--ports_file_dir", "FOLDER"]
    if let maxPayload {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).conf")
      try Data("max_payload: \(maxPayload)\n".utf8).write(to: file)
      arguments += ["-c", file.path]
    }
    program = try Program("/usr/bin/env", ["nats-server"] + arguments)
    let file = try await Engine.portsFile(of: program)
    self.port = try #require(Int(file.split { !$0.isNumber }.last ?? ""))
    if maxPayload != nil { try? FileManager.default.removeItem(atPath: arguments.last ?? "") }
  }

  private static func portsFile(of program: Program) async throws -> String {
    var text = ""
    try await eventually("the nats-server is there") {
      try #require(program.isRunning, "\(program.text("err"))")
      text = program.files.first { $0.hasSuffix(".ports") }.map(program.text) ?? ""
      return text.hasSuffix("]}")
    }
    return text
  }

  var url: String { "nats://127.0.0.1:\(port)" }
}
