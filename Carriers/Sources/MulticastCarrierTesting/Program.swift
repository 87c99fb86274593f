import Foundation
import MulticastCarrier

/// A program that a test has started, with its own folder. It is killed when the test releases this object.
public final class Program: Sendable {
  private let process: Locked<Process>
  private let folder: URL

  /// The error of a program that could not start or has failed.
  public struct Failure: Error, CustomStringConvertible {
    /// The text that the program has written.
    public let description: String
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - path: The program. If the path contains no slash, the program is searched for as in a shell.
  ///   - arguments: The program's arguments, with `FOLDER` for its folder.
  ///   - files: Texts that are written to its folder first, with `FOLDER` replaced.
  public init(_ path: String, _ arguments: [String], files: [String: String] = [:]) throws {
    let process = Process()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Carriers-\(UUID())")
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    func filled(_ text: String) -> String { text.replacing("FOLDER", with: folder.path) }
    for (name, text) in files {
      try Data(filled(text).utf8).write(to: folder.appendingPathComponent(name))
    }
    let isName = !path.contains("/")
    process.executableURL = URL(fileURLWithPath: isName ? "/usr/bin/env" : path)
    process.arguments = (isName ? [path] : []) + arguments.map(filled)
    process.standardInput = FileHandle.nullDevice
    let outputs = try ["out", "err"].map { name in
      let file = folder.appendingPathComponent(name)
      try Data().write(to: file)
      return try FileHandle(forWritingTo: file)
    }
    // The program has copies. Foundation keeps these open longer than the process object lives.
    defer { for output in outputs { try? output.close() } }
    (process.standardOutput, process.standardError) = (outputs[0], outputs[1])
    try process.run()
    self.process = Locked(process)
  }

  deinit {
    signal(SIGKILL)
    while isRunning { usleep(1_000) }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns the path of a file in the program's folder.
  public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Returns the text of a file in the program's folder. `out` and `err` contain what the program has written.
  public func text(_ name: String) -> String {
    (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }

  /// The names of the files in the program's folder.
  public var files: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
  }

  /// Whether the program runs.
  public var isRunning: Bool { exitStatus == nil }

  /// The status of the program, or the number of the signal that has ended it; nil while it runs.
  ///
  /// Asks the system, because Foundation considers a program running as long as a child process of it runs.
  private var exitStatus: Int32? {
    process.withLock { process in
      var end = unsafe siginfo_t()
      let status = unsafe waitid(
        P_PID, id_t(process.processIdentifier), &end, WEXITED | WNOHANG | WNOWAIT)
      // Foundation may have collected its status before.
      guard status == 0 else { return process.isRunning ? nil : process.terminationStatus }
      guard unsafe end.si_signo != 0 else { return nil }
      #if canImport(Darwin)
        return unsafe end.si_status
      #else
        return unsafe end._sifields._sigchld.si_status
      #endif
    }
  }

  /// Sends a signal to the program, if it runs.
  public func signal(_ signal: Int32) {
    if isRunning { _ = process.withLock { kill($0.processIdentifier, signal) } }
  }

  /// Waits until the program has ended.
  public func end() async throws {
    try await eventually("the program ends") { !self.isRunning }
  }

  /// Waits until the program has ended.
  ///
  /// - Returns: Its status, or the number of the signal that has ended it.
  public func status() async throws -> Int32 {
    while true {
      try await end()
      // Foundation may be about to collect it.
      if let exitStatus { return exitStatus }
    }
  }

  /// Kills the program, and waits until it has ended.
  public func kill9() async throws {
    signal(SIGKILL)
    try await end()
  }
}

/// Waits for something that must happen, however slow the machine is. The limit only ends a test that hangs.
nonisolated(nonsending) public func eventually(
  _ what: String, within limit: Duration = .seconds(1_200),
  _ holds: nonisolated(nonsending) () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !holds() {
    guard ContinuousClock.now < end else {
      throw Program.Failure(description: "\(what) did not come true within \(limit).")
    }
    try await Task.sleep(for: .milliseconds(10))
  }
}
