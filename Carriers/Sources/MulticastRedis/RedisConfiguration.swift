import Foundation
import MulticastCarrier

/// The address of the server, the credentials, and how much the streams keep.
public struct RedisConfiguration: Sendable, CustomReflectable {
  /// The address, with user, password and the number of the database. `rediss` stands for an encrypted connection.
  public var url: URLComponents
  /// The path of a file with the certificates of the authority that has signed the server's certificate; nil for the
  /// authorities that the system trusts.
  public var certificateAuthority: String?
  /// The path of a file with this client's certificate chain, and of a file with its key.
  public var certificate: (chain: String, key: String)?
  /// The approximate number of records that are kept for each topic. A record has 1 to 500 messages.
  public var records = 10_000
  /// The number of records that are kept for a topic that keeps its latest message. A slower process receives the last
  /// ones, and a report with the number of messages that it has missed of the senders that it knows.
  public var latestRecords = 64
  /// How long the log of a topic is kept after its last message; zero to keep it forever. Latest values stay.
  public var expiry = Duration.seconds(86_400)
  /// The size in bytes of the largest record.
  public var recordLimit = 1 << 20

  /// Creates a configuration.
  ///
  /// - Parameter url: `redis://user:password@host:port/database` or `rediss://…`. The host alone is enough. Write an
  ///   IPv6 address in brackets, a password without a user as `redis://:password@host`, and percent-encode other
  ///   characters: `%40` for `@`.
  /// - Throws: `CarrierError.refused` if the URL is not valid.
  public init(url: String) throws {
    self.url = try address(url, ["redis", "rediss"], like: "redis://user:password@host:port")
  }

  /// The address without a secret, for `print`, `dump` and a debugger.
  public var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }

  var host: String { (url.host ?? "").trimmingCharacters(in: ["[", "]"]) }
  var port: Int { url.port ?? 6_379 }
}
