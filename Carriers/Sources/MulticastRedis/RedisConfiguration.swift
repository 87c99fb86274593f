import Foundation
import MulticastCarrier
import NIOCore
import NIOPosix
import NIOSSL

extension RedisCarrier {
  /// Where the server is, and who asks.
  public struct Configuration: Sendable {
    /// The host.
    public var host: String
    /// The port.
    public var port: Int
    /// The user; nil for the default one.
    public var user: String?
    /// The password; nil for a server without one.
    public var password: String?
    /// Whether the connection is encrypted, as it is with `rediss://`.
    public var isEncrypted: Bool
    /// The path of a file with the certificates that the server's is signed by, for an encrypted connection; nil for
    /// those that the system trusts.
    public var certificateAuthority: String?
    /// What the connection is called in the server's lists.
    public var name: String
    /// The largest payload.
    public var payloadLimit = 1 << 20
    /// How many bytes may wait for the network.
    public var waitingBytes = 8 << 20

    /// Creates a configuration.
    ///
    /// A database's number behind the port means nothing: channels have none, and streams are in database 0.
    ///
    /// - Parameter url: `redis://user:password@host:port` or `rediss://…`, of which the host is enough. A
    ///   password is `redis://:password@host`. What a URL cannot have in a user or password is encoded: `%40`
    ///   for `@`.
    /// - Throws: `InvalidURL`.
    public init(url: String, name: String = "multicast") throws {
      isEncrypted = url.hasPrefix("rediss://")
      guard isEncrypted || url.hasPrefix("redis://") else { throw InvalidURL(url: url) }
      let parts = url.dropFirst(isEncrypted ? 9 : 8)
        .split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count <= 2, let place = parts.last?.split(separator: "/").first else {
        throw InvalidURL(url: url)
      }
      let address = place.split(separator: ":", omittingEmptySubsequences: false)
      guard address.count <= 2, !address[0].isEmpty,
        let port = address.count == 2 ? UInt16(address[1]) : 6_379
      else { throw InvalidURL(url: url) }
      host = String(address[0])
      self.port = Int(port)
      self.name = name
      guard parts.count == 2 else { return }
      let names = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      func decoded(_ name: Substring) -> String { name.removingPercentEncoding ?? String(name) }
      user = names[0].isEmpty ? nil : decoded(names[0])
      password = names.count == 2 ? decoded(names[1]) : nil
    }
  }

  /// An address that is none of a Redis server.
  public struct InvalidURL: Error, CustomStringConvertible {
    let url: String
    /// A sentence for whoever has configured it, without the user and the password.
    public var description: String {
      "\(withoutCredentials(url)) is no address like redis://user:password@host:port."
    }
  }
}

extension RedisCarrier.Configuration {
  var place: String { "\(host):\(port)" }

  /// What a connection begins with.
  var greeting: [String] {
    var words = ["HELLO", "3"]
    if let password { words += ["AUTH", user ?? "default", password] }
    return words + ["SETNAME", name.filter { $0.isASCII && ("!"..."~").contains($0) }]
  }

  /// Opens a connection, of which a handler reads the server's values.
  func connect(
    on group: any EventLoopGroup, _ handler: @escaping @Sendable () -> any ChannelInboundHandler
  ) -> EventLoopFuture<any Channel> {
    ClientBootstrap(group: group)
      .connectTimeout(.seconds(2))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if isEncrypted { try pipeline.addHandler(encryption()) }
          try pipeline.addHandlers(ByteToMessageHandler(RESPDecoder()), handler())
        }
      }
      .connect(host: host, port: port)
  }

  private func encryption() throws -> NIOSSLClientHandler {
    var configuration = TLSConfiguration.makeClientConfiguration()
    if let certificateAuthority { configuration.trustRoots = .file(certificateAuthority) }
    // A certificate names an address as such, and not as a host.
    let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
    let context: NIOSSLContext
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      throw Unusable(
        description:
          "The certificates in \(certificateAuthority ?? "the system") cannot be used: \(error)")
    }
    return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
  }

  private struct Unusable: Error, CustomStringConvertible {
    let description: String
  }
}
