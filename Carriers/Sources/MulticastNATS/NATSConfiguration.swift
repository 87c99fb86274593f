import CNATS
import Foundation
import MulticastCarrier

/// The addresses of the servers, the credentials, and how much the streams keep.
public struct NATSConfiguration: Sendable, CustomReflectable {
  /// The servers of one cluster, one of which is used: `nats://user:password@host:port` or `tls://…`. The host alone is
  /// enough.
  public var urls: [String]
  /// The user, unless the URLs contain one.
  public var user: String?
  /// The password.
  public var password: String?
  /// A token instead of user and password.
  public var token: String?
  /// The path of a file with a user's JWT and seed.
  public var credentialsFile: String?
  /// The path of a file with the certificates of the authority that has signed the servers' certificates; nil for the
  /// authorities that the system trusts. With it, or with `tls://`, the connection is encrypted.
  public var certificateAuthority: String?
  /// The path of a file with this client's certificate chain, and of a file with its key.
  public var certificate: (chain: String, key: String)?
  /// The beginning of the subjects at which answers arrive. Give each user of the server another one, such as
  /// `_INBOX.shop`, with the right to subscribe only to `_INBOX.shop.>`, because a user with the right to `_INBOX.>`
  /// reads the answers to all others.
  public var inbox = "_INBOX"
  /// The name of the connection in the servers' lists.
  public var name = "multicast"
  /// The number of bytes that a stream keeps, if this process is the first one and creates it.
  public var maxBytes: Int64 = 1 << 30
  /// The time for which a stream keeps a record.
  public var maxAge = Duration.seconds(3_600)
  /// The number of servers of a cluster that store a stream.
  public var replicas: Int64 = 1

  /// Creates a configuration.
  ///
  /// - Throws: `CarrierError.refused` if a URL is not valid.
  public init(urls: [String]) throws {
    for url in urls {
      _ = try address(url, ["nats", "tls"], like: "nats://user:password@host:port")
    }
    self.urls = urls
  }

  /// Creates a configuration of one server, or of several servers of a cluster.
  public init(url: String, _ others: String...) throws { try self.init(urls: [url] + others) }

  /// The passwords that the server or the client may repeat, which no report may contain.
  var secrets: [String] {
    [password, token].compactMap(\.self)
      + urls.flatMap { URLComponents(string: $0)?.secrets ?? [] }
  }

  /// The addresses without a secret, for `print`, `dump` and a debugger.
  public var customMirror: Mirror { Mirror(self, children: ["urls": urls.map(withoutSecrets)]) }

  /// Configures the C client. Returns its first error.
  ///
  /// - Parameter patience: How long the server may be silent.
  func configure(_ options: OpaquePointer?, _ patience: Duration) -> natsStatus {
    let seconds = patience.components.seconds
    let pointers = unsafe urls.map { unsafe strdup($0) }
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var servers = unsafe pointers.map { unsafe UnsafePointer($0) }
    let isEncrypted = certificateAuthority != nil || urls.contains { $0.hasPrefix("tls:") }
    let all: [natsStatus?] = unsafe [
      natsOptions_SetServers(options, &servers, Int32(servers.count)),
      natsOptions_SetName(options, name), natsOptions_SetUserInfo(options, user, password),
      natsOptions_SetToken(options, token),
      // The client does not connect again by itself, so that every end of a connection is reported in the same way.
      natsOptions_SetAllowReconnect(options, false), natsOptions_SetTimeout(options, 2_000),
      natsOptions_SetPingInterval(options, 3_000),
      natsOptions_SetMaxPingsOut(options, Int32(seconds / 3 - 1)),
      natsOptions_SetWriteDeadline(options, seconds * 1_000),
      // Messages that leave together already share a record, so no thread needs to be woken to collect more.
      natsOptions_SetSendAsap(options, true), natsOptions_UseGlobalMessageDelivery(options, true),
      natsOptions_SetSecure(options, isEncrypted),
      credentialsFile.map { unsafe natsOptions_SetUserCredentialsFromFiles(options, $0, nil) },
      certificateAuthority.map { unsafe natsOptions_LoadCATrustedCertificates(options, $0) },
      certificate.map { unsafe natsOptions_LoadCertificatesChain(options, $0.chain, $0.key) },
    ]
    return all.lazy.compactMap(\.self).first { $0 != NATS_OK } ?? NATS_OK
  }
}
