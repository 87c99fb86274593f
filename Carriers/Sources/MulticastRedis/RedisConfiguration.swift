import Foundation
import MulticastCarrier

/// Where the server is, who asks, and how much it keeps.
public struct RedisConfiguration: Sendable {
  /// The address, with user, password and the number of the database. `rediss` stands for an encrypted connection.
  public var url: URLComponents
  /// The path of a file with the certificates that the server's is signed by; nil for those that the system trusts.
  public var certificateAuthority: String?
  /// The path of a file with this client's certificate chain, and of one with its key.
  public var certificate: (chain: String, key: String)?
  /// About how many records of a topic are kept, each of which has 1 to 500 messages.
  public var records = 10_000
  /// How many records of a topic that keeps its latest are kept. A slower process receives the last ones, and a report
  /// of how many it has missed.
  public var latestRecords = 64
  /// How long the log of a topic is kept that nobody says anything to. Latest values stay.
  public var expiry = Duration.seconds(86_400)
  /// The size in bytes of the largest record.
  public var recordLimit = 1 << 20

  /// Creates a configuration.
  ///
  /// - Parameter url: `redis://user:password@host:port/database` or `rediss://…`, of which the host is enough. An IPv6 address
  ///   stands in brackets. A password is `redis://:password@host`. What a URL cannot have is encoded: `%40` for `@`.
  /// - Throws: `CarrierError.refused`, if the URL is none.
  public init(url: String) throws {
    self.url = try address(url, ["redis", "rediss"], like: "redis://user:password@host:port")
  }

  var host: String { (url.host ?? "").trimmingCharacters(in: ["[", "]"]) }
  var port: Int { url.port ?? 6_379 }
}
