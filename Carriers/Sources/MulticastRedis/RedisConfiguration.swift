import Foundation
import MulticastCarrier

/// Where the server is, who asks, and how much it keeps.
public struct RedisConfiguration: Sendable {
  /// The host's name or address.
  public var host: String
  /// The port.
  public var port: Int
  /// The user; nil for the default one.
  public var user: String?
  /// The password; nil for a server without one.
  public var password: String?
  /// The number of the database.
  public var database = 0
  /// Whether the connection is encrypted, as it is with `rediss://`.
  public var isEncrypted: Bool
  /// The path of a file with the certificates that the server's is signed by; nil for those that the system trusts.
  public var certificateAuthority: String?
  /// The path of a file with this client's certificate chain, and of one with its key.
  public var certificate: (chain: String, key: String)?
  /// What the connections are called in the server's lists: characters without spaces.
  public var name = "multicast"
  /// About how many records of a topic are kept, each of which has 1 to 500 messages.
  public var records = 10_000
  /// How many records of a topic that keeps its latest are kept.
  public var latestRecords = 8
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
    guard let parts = URLComponents(string: url), ["redis", "rediss"].contains(parts.scheme),
      let host = parts.host, !host.isEmpty, (0...65_535).contains(parts.port ?? 0)
    else {
      throw CarrierError.refused(
        "\(withoutCredentials(url)) is no address like redis://user:password@host:port.")
    }
    self.host = host.trimmingCharacters(in: ["[", "]"])
    port = parts.port ?? 6_379
    isEncrypted = parts.scheme == "rediss"
    user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    password = parts.password
    database = Int(parts.path.dropFirst()) ?? 0
  }
}
