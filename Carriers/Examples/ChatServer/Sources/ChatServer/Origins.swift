import HTTPTypes
import Hummingbird
import Synchronization

/// The addresses whose pages may read and write here: this server's, and those that it was started with.
final class Origins: Sendable {
  /// The other servers.
  let peers: [String]
  private let allowed: Mutex<Set<String>>

  init(_ peers: [String]) {
    self.peers = peers
    allowed = Mutex(Set(peers))
  }

  func allow(_ origin: String) { allowed.withLock { _ = $0.insert(origin) } }
  func allows(_ origin: String) -> Bool { allowed.withLock { $0.contains(origin) } }
}

/// Refuses what another page's script asks for, and lets a page go on here whose own server has ended.
struct OriginCheck<Context: RequestContext>: RouterMiddleware {
  let origins: Origins

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    guard let origin = request.headers[.origin] else { return try await next(request, context) }
    guard origins.allows(origin) else {
      throw HTTPError(.forbidden, message: "Pages of \(origin) cannot use this server.")
    }
    var response =
      request.method == .options ? Response(status: .noContent) : try await next(request, context)
    response.headers[.accessControlAllowOrigin] = origin
    response.headers[.vary] = "Origin"
    if request.method == .options {
      response.headers[.accessControlAllowMethods] = "GET, POST"
      response.headers[.accessControlAllowHeaders] = "Content-Type, Last-Event-ID"
    }
    return response
  }
}
