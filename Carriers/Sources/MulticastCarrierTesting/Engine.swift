import Foundation
import MulticastCarrier

/// A real engine for a test, on a port of this machine that no other program uses.
public struct Engine: Sendable {
  /// The kinds of engines.
  public enum Kind: String, Sendable, CaseIterable {
    /// `nats-server`
    case nats
    /// `redis-server`
    case redis

    /// The engines that tests use: all of them, or the one that the environment variable `ENGINE` names.
    public static var tested: [Self] {
      ProcessInfo.processInfo.environment["ENGINE"].flatMap(Self.init).map { [$0] } ?? allCases
    }
  }

  /// The kind of the engine.
  public let kind: Kind
  /// The running program.
  public let program: Program
  /// The engine's port.
  public let port: Int
  private let store: Store

  /// A folder that is deleted with its last owner.
  private final class Store: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("Store-\(UUID())").path
    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    var copy: String { path + "-copy" }
    deinit { for path in [path, copy] { try? FileManager.default.removeItem(atPath: path) } }
  }

  /// Starts an engine that stores its data on disk: JetStream, or an append-only file.
  ///
  /// - Parameters:
  ///   - port: The port of an earlier engine, to start one there with an empty store.
  ///   - old: An earlier engine that has ended, to start it again with its port and its store.
  ///   - configuration: More lines for its configuration file, with `PORT` for its port.
  public init(
    _ kind: Kind, port: Int? = nil, again old: Engine? = nil, configuration: String = ""
  ) async throws {
    self.kind = kind
    let port = port ?? old?.port
    let store = try old?.store ?? Store()
    self.store = store
    let stores =
      kind == .nats
      ? "jetstream { store_dir: \"\(store.path)\" }"
      : "dir \(store.path)\nappendonly yes\nappendfsync everysec"
    let configuration = stores + "\n" + configuration
    var chosen = try port ?? Engine.freePort()
    var program = try Engine.start(kind, chosen, configuration)
    try await eventually("\(kind) listens") {
      let text = program.text("out") + program.text("err")
      if program.isRunning {
        return text.contains(kind == .nats ? "Server is ready" : "Ready to accept connections")
      }
      guard text.lowercased().contains("address already in use") else {
        throw Program.Failure(description: text)
      }
      // Another program has the port at the moment.
      chosen = try port ?? Engine.freePort()
      program = try Engine.start(kind, chosen, configuration)
      return false
    }
    self.port = chosen
    self.program = program
  }

  private static func start(
    _ kind: Kind, _ port: Int, _ configuration: String
  ) throws -> Program {
    let filled = configuration.replacing("PORT", with: "\(port)")
    return switch kind {
    case .nats:
      try Program(
        "nats-server", ["-a", "127.0.0.1", "-p", "\(port)", "-c", "FOLDER/conf"],
        files: ["conf": filled])
    case .redis:
      try Program(
        "redis-server", ["FOLDER/conf"],
        files: [
          "conf": """
          bind 127.0.0.1
          port \(port)
          save ""
          \(filled)

          """
        ])
    }
  }

  /// Copies the store. Call this after the engine has ended.
  public func copyStore() throws {
    try FileManager.default.copyItem(atPath: store.path, toPath: store.copy)
  }

  /// Restores the copy of the store. Call this after the engine has ended.
  public func restoreStore() throws {
    try FileManager.default.removeItem(atPath: store.path)
    try FileManager.default.moveItem(atPath: store.copy, toPath: store.path)
  }

  /// The address of the engine.
  public var url: String { "\(kind)://127.0.0.1:\(port)" }

  private static let given = Locked<Set<Int>>([])

  /// Returns a port that no program uses now.
  ///
  /// It is not one of the ports that systems choose for connections. Otherwise, a connection could take it before an
  /// engine starts again.
  public static func freePort() throws -> Int {
    for _ in 0..<1_000 {
      let port = Int.random(in: 10_000..<30_000)
      if given.withLock({ $0.insert(port).inserted }), isFree(port) { return port }
    }
    throw Program.Failure(description: "No port is free.")
  }

  private static func isFree(_ port: Int) -> Bool {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    let socket = socket(AF_INET, stream, 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket, pointer, size) == 0
      }
    }
  }
}
