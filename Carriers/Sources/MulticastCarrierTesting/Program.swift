import Foundation
import MulticastCarrier

/// A program that a test has started, with a folder of its own. It is killed when the test lets it go.
public final class Program: Sendable {
  private let process: Locked<Process>
  private let folder: URL

  /// Why a program is not there.
  public struct Failure: Error, CustomStringConvertible {
    /// What it has written.
    public let description: String
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - path: The program. Without a slash, it is looked for as in a shell.
  ///   - arguments: Its arguments. `FOLDER` in them stands for its folder.
  ///   - files: Texts that are written to its folder before, with `FOLDER` replaced in them.
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
    for (name, keyPath) in [("out", \Process.standardOutput), ("err", \Process.standardError)] {
      let file = folder.appendingPathComponent(name)
      try Data().write(to: file)
      process[keyPath: keyPath] = try FileHandle(forWritingTo: file)
    }
    try process.run()
    self.process = Locked(process)
  }

  deinit {
    signal(SIGKILL)
    while isRunning { usleep(1_000) }
    try? FileManager.default.removeItem(at: folder)
  }

  /// The path of a file in its folder.
  public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The text of a file in its folder: `out` and `err` are what it has written.
  public func text(_ name: String) -> String {
    (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }

  /// The names of the files in its folder.
  public var files: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
  }

  /// Whether it runs.
  public var isRunning: Bool { exitStatus == nil }

  /// Its status, or the number of the signal that has ended it; nil as long as it runs.
  ///
  /// The system is asked. For Foundation, a program runs as long as anything that it has started.
  private var exitStatus: Int32? {
    process.withLock { process in
      var end = unsafe siginfo_t()
      let status = unsafe waitid(
        P_PID, id_t(process.processIdentifier), &end, WEXITED | WNOHANG | WNOWAIT)
      // Foundation may have asked for its end before.
      guard status == 0 else { return process.isRunning ? nil : process.terminationStatus }
      guard unsafe end.si_signo != 0 else { return nil }
      #if canImport(Darwin)
        return unsafe end.si_status
      #else
        return unsafe end._sifields._sigchld.si_status
      #endif
    }
  }

  /// Sends it a signal, if it runs.
  public func signal(_ signal: Int32) {
    if isRunning { _ = process.withLock { kill($0.processIdentifier, signal) } }
  }

  /// Waits for its end.
  public func end() async throws {
    try await eventually("the program ends") { !self.isRunning }
  }

  /// Waits for its end.
  ///
  /// - Returns: Its status, or the number of the signal that has ended it.
  public func status() async throws -> Int32 {
    while true {
      try await end()
      // Foundation may be about to take it.
      if let exitStatus { return exitStatus }
    }
  }

  /// Kills it, and waits for its end.
  public func kill9() async throws {
    signal(SIGKILL)
    try await end()
  }
}

/// Waits for something that has to happen, however slow the machine is: the limit ends a test that hangs.
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
