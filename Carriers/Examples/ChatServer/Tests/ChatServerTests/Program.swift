import Foundation
import MulticastCarrier
import MulticastCarrierTesting
import MulticastRedis
import Testing

#if NATS
  import MulticastNATS
#endif

/// A running server.
final class Server: Sendable {
  let program: Program
  let port: Int
  /// The port of `/health`, `/metrics` and `/wiring`.
  let admin: Int

  init(_ name: String, port wanted: Int = 0, _ arguments: String...) async throws {
    program = try Program(
      Program.built("ChatServer"),
      // A busy machine may give no time to a test for long. Only a test of slow requests needs a short limit.
      ["--port", "\(wanted)", "--admin", "0", "--name", name, "--request-timeout", "3600"]
        + arguments)
    try await eventually("\(name) listens") { [program] in
      try #require(program.isRunning, "\(program.text("err"))")
      return program.text("out").count { $0 == "\n" } == 2
    }
    let lines = program.text("out").split(separator: "\n")
    func port(_ text: String) throws -> Int {
      let line = lines.first { $0.hasPrefix("\(name) \(text) at ") }
      return try #require(Int(line?.split(separator: ":").last ?? ""))
    }
    (self.port, admin) = (try port("listens"), try port("reports"))
  }

  var address: String { "http://127.0.0.1:\(port)" }

  func metric(_ start: String) async throws -> Int {
    let line = try await get("/metrics", at: admin).split(separator: "\n").first {
      $0.hasPrefix(start)
    }
    return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
  }

  func get(_ path: String, at port: Int? = nil) async throws -> String {
    try await withWire(port ?? self.port) { wire in
      var wire = wire
      return try await wire.ask("GET", path).text
    }
  }
}

extension Program {
  /// The path of a built program.
  static func built(_ name: String) throws -> String {
    let tests = Bundle(for: Server.self).bundleURL
    return try #require(
      [tests, tests.deletingLastPathComponent()].map { $0.appendingPathComponent(name).path }
        .first { FileManager.default.isExecutableFile(atPath: $0) })
  }
}

/// The engine of the tests of several processes. With the trait NATS, it is a nats-server.
func engine(again old: Engine? = nil) async throws -> Engine {
  #if NATS
    try await Engine(.nats, again: old)
  #else
    try await Engine(.redis, again: old)
  #endif
}

func carrier(_ engine: Engine) throws -> any Carrier {
  #if NATS
    NATSCarrier(try .init(url: engine.url))
  #else
    RedisCarrier(try .init(url: engine.url))
  #endif
}
