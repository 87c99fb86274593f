import Foundation
import MulticastCarrier
import MulticastRedis

#if NATS
  import MulticastNATS
#endif

/// The arguments of the command line.
struct Arguments {
  static let usage = """
    usage: ChatServer [--host <address>] [--port <number>] [--name <name>] [--rooms <name>,<name>…]
                      [--engine <url>] [--peers <url>,<url>…] [--admin [<address>:]<port>]
                      [--request-timeout <seconds>]

    Without --engine, one process serves all. With it, all processes of one engine form one chat:
    redis://… of a Redis or Valkey server, nats://… of a nats-server. An address with a password belongs
    into the environment, as CHAT_ENGINE, because any user of a machine can read the arguments.
    --peers are the addresses of the servers as browsers know them, to which a page may go when this one
    ends. A port of 0 lets the system choose one. With --host 0.0.0.0, the server listens at all addresses
    of its machine. It answers only requests for an address, for localhost, for --host or for the host of
    one of the --peers. /health, /metrics and /wiring are at --admin, by default at port 9090 of this
    machine alone. A connection that has not sent a whole request within --request-timeout, by default
    ten seconds, is closed.
    """

  var host = "127.0.0.1"
  var port = 8080
  var admin = (host: "127.0.0.1", port: 9090)
  var name: String?
  var rooms = ["lobby", "garden", "kitchen"]
  var peers: [String] = []
  /// In seconds.
  var requestTimeout = 10
  private var engine = ProcessInfo.processInfo.environment["CHAT_ENGINE"]

  init(_ words: [String]) throws(UsageError) {
    var words = words[...]
    while let option = words.popFirst() {
      let options = [
        "--host", "--port", "--name", "--rooms", "--engine", "--peers", "--admin",
        "--request-timeout",
      ]
      guard options.contains(option) else {
        throw UsageError("There is no option \(option).")
      }
      guard let value = words.popFirst(), !value.isEmpty else {
        throw UsageError("\(option) needs a value.")
      }
      switch option {
      case "--host": host = value
      case "--name": name = value
      case "--engine": engine = value
      case "--peers":
        peers = value.split(separator: ",").map(String.init)
        guard peers.allSatisfy({ $0.hasPrefix("http://") || $0.hasPrefix("https://") }) else {
          throw UsageError("Peers are addresses like http://host:port.")
        }
      case "--request-timeout":
        guard let seconds = UInt32(value), seconds > 0 else {
          throw UsageError("\(value) is no number of seconds.")
        }
        requestTimeout = Int(seconds)
      case "--port": port = try Self.port(value)
      case "--admin":
        let colon = value.lastIndex(of: ":")
        admin.port = try Self.port(colon.map { value[$0...].dropFirst() } ?? value[...])
        if let colon { admin.host = value[..<colon].trimmingCharacters(in: ["[", "]"]) }
      default:
        rooms = value.split(separator: ",").map(String.init)
        guard !rooms.isEmpty,
          rooms.allSatisfy({ $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
        else { throw UsageError("Rooms have names of letters and digits.") }
      }
    }
  }

  private static func port(_ text: some StringProtocol) throws(UsageError) -> Int {
    guard let number = UInt16(text) else { throw UsageError("\(text) is no port.") }
    return Int(number)
  }

  func carrier() throws -> any Carrier & Registry {
    guard let engine else { return Alone() }
    if engine.hasPrefix("redis:") || engine.hasPrefix("rediss:") {
      return RedisCarrier(try .init(url: engine))
    }
    #if NATS
      return NATSCarrier(try .init(urls: engine.split(separator: ",").map(String.init)))
    #else
      guard engine.hasPrefix("nats:") || engine.hasPrefix("tls:") else {
        // The address may contain a password.
        throw UsageError("The address of an engine begins with redis:, rediss:, nats: or tls:.")
      }
      throw UsageError("This program was built without NATS: swift run --traits NATS ChatServer")
    #endif
  }
}

struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The engine of a chat of one process: it has no other readers and no earlier records.
struct Alone: Carrier, Registry {
  let recordLimit = 1 << 20
  private let place = Position(epoch: 1, number: 0)

  func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position { place }

  func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    try await Task.sleep(for: .seconds(5))
    return []
  }

  func end(of log: Log) async throws -> Position { place }
  func isComplete(_ log: Log, since position: Position) async throws -> Bool { true }
  func release(_ log: Log) {}
  func close() async {}

  func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> (values: [String: [UInt8]], wasKept: Bool) {
    (value.map { [name: $0] } ?? [:], true)
  }
}
