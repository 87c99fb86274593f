import HTTPTypes
import Hummingbird
import NIOCore

/// The names of this server, and the origins whose pages may use it.
struct Origins: Sendable {
  /// The servers to which a page may go, from `--peers`: the others, and perhaps this one under a public name.
  let peers: [String]
  private let names: Set<String>

  /// - Parameter host: The name or address at which this server listens.
  init(host: String, peers: [String]) {
    self.peers = peers
    names = Set([host, "localhost"] + peers.map { Self.host(Self.authority(of: $0)) })
  }

  /// Whether a request is meant for this server.
  ///
  /// An attacker's page can make its own name lead to this server, and would then have the same origin. It cannot do so
  /// with an address.
  func isHere(_ authority: String) -> Bool {
    let host = Self.host(authority)
    return names.contains(host) || (try? SocketAddress(ipAddress: host, port: 0)) != nil
  }

  /// Whether a page of an origin may use this server, under the name in the request.
  func allows(_ origin: String, at authority: String) -> Bool {
    Self.authority(of: origin) == authority || peers.contains(origin)
  }

  private static func authority(of address: String) -> String {
    String(address.split(separator: "/").dropFirst().first ?? "")
  }

  private static func host(_ authority: String) -> String {
    authority.first == "["
      ? String(authority.dropFirst().prefix { $0 != "]" }) : String(authority.prefix { $0 != ":" })
  }
}

/// Refuses requests of scripts of other pages, and allows those of a page whose own server has ended.
struct OriginCheck<Context: RequestContext>: RouterMiddleware {
  let origins: Origins

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let authority = request.head.authority ?? ""
    guard origins.isHere(authority) else {
      throw HTTPError(
        .misdirectedRequest,
        message: "This server is not \(authority). Start it with this name in --host or --peers.")
    }
    guard let origin = request.headers[.origin] else { return try await next(request, context) }
    guard origins.allows(origin, at: authority) else {
      throw HTTPError(.forbidden, message: "Pages of \(origin) cannot use this server.")
    }
    var response =
      request.method == .options ? Response(status: .noContent) : try await next(request, context)
    response.headers[.vary] = "Origin"
    if request.method == .options {
      response.headers[.accessControlAllowMethods] = "GET, POST"
      response.headers[.accessControlAllowHeaders] = "Content-Type, Last-Event-ID"
    }
    return response
  }
}
