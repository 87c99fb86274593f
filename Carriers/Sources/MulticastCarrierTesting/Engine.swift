import Foundation

/// A real engine of a test, on a port of this machine that the system chooses.
public struct Engine: Sendable {
  /// Which engine.
  public enum Kind: String, Sendable, CaseIterable {
    /// `nats-server`
    case nats
    /// `redis-server`
    case redis
  }

  /// Which engine.
  public let kind: Kind
  /// The running program.
  public let program: Program
  /// Its port.
  public let port: Int

  /// Starts an engine.
  ///
  /// - Parameters:
  ///   - port: The port of an earlier one, to start it again.
  ///   - configuration: What else is in its configuration file.
  public init(_ kind: Kind, port: Int? = nil, configuration: String = "") async throws {
    self.kind = kind
    let chosen = try port ?? Engine.freePort()
    switch kind {
    case .nats:
      program = try Program(
        "nats-server", ["-a", "127.0.0.1", "-p", "\(chosen)", "-c", "FOLDER/conf"],
        files: ["conf": configuration])
    case .redis:
      program = try Program(
        "redis-server", ["FOLDER/conf"],
        files: [
          "conf": """
          bind 127.0.0.1
          port \(chosen)
          save ""
          dir FOLDER
          \(configuration)

          """
        ])
    }
    self.port = chosen
    try await eventually("\(kind) listens") { [program] in
      guard program.isRunning else {
        throw Program.Failure(description: program.text("out") + program.text("err"))
      }
      return (program.text("out") + program.text("err"))
        .contains(kind == .nats ? "Server is ready" : "Ready to accept connections")
    }
  }

  /// Its address.
  public var url: String { "\(kind)://127.0.0.1:\(port)" }

  /// A port that nobody uses now.
  public static func freePort() throws -> Int {
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
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket, pointer, size) == 0 ? getsockname(socket, pointer, &size) : -1
      }
    }
    guard status == 0 else { throw Program.Failure(description: "No port is free.") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
