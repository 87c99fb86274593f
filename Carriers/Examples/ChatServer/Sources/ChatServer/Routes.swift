import Foundation
import HTTPTypes
import Hummingbird
import MulticastCarrier
import NIOCore

/// The first event for a page.
private struct Rooms: Encodable {
  let rooms: [String]
  let peers: [String]
}

/// The body of a request.
private struct Sent: Decodable {
  let name: String
  let client: String
  let text: String
  /// The id of a message, chosen by the page.
  let id: String?
}

/// The router of the server.
///
/// ```
/// GET  /                        the page
/// GET  /rooms                   the names of the rooms, and the other servers to which a page may go
/// GET  /rooms/<room>/events     the room's events, as long as the browser listens: ?name=…&client=…
/// POST /rooms/<room>/messages   { "name", "client", "text", "id" }
/// POST /rooms/<room>/topic      the same, without an id
/// ```
///
/// A refused request is answered with a status and a sentence.
func routes(to chat: Chat, origins: Origins) -> Router<BasicRequestContext> {
  let router = makeRouter(origins)
  router.only(.get, "/") { _, _ in
    // Only scripts with the number of this answer run in the page.
    let number = "\(UInt64.random(in: 0 ... .max))"
    let page = String(decoding: PackageResources.page_html, as: UTF8.self)
      .replacing("NONCE", with: number)
    var answer = text(page, "text/html; charset=utf-8")
    answer.headers[.contentSecurityPolicy] = """
      default-src 'none'; script-src 'nonce-\(number)'; style-src 'nonce-\(number)'; \
      connect-src \((["'self'"] + origins.peers).joined(separator: " ")); img-src 'self'; \
      base-uri 'none'; form-action 'none'; frame-ancestors 'none'
      """
    return answer
  }
  router.only(.get, "/rooms") { _, _ in
    let answer = Rooms(rooms: await chat.roomNames(), peers: origins.peers)
    return text(
      String(decoding: try JSONEncoder().encode(answer), as: UTF8.self), "application/json")
  }
  router.only(.get, "/rooms/:room/events") { request, context in
    let query = request.uri.queryParameters
    let member = try member(
      in: context, name: query["name"].map(String.init) ?? "",
      client: query["client"].map(String.init) ?? "")
    // A page that has received no message names none.
    let last = request.headers[.lastEventID] ?? query["after"].map(String.init)
    let stay = Stay(try await chat.join(member, after: last == "" ? nil : last), in: chat)
    return Response(
      status: .ok,
      headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        // The body of the request ends when the browser disconnects, even if nothing is written.
        try await stream(stay.connection, of: request, to: &writer)
        try await writer.finish(nil)
      })
  }
  router.only(.post, "/rooms/:room/messages") { request, context in
    let (member, text, id) = try await sent(request, context, limit: Said.textLimit)
    guard !text.isEmpty else { throw HTTPError(.badRequest, message: "The message is empty.") }
    guard let id, Said.isID(id) else {
      throw HTTPError(.badRequest, message: "A message has an id of 8 to 64 bytes.")
    }
    try await chat.say(text, id: id, as: member)
    return Response(status: .accepted)
  }
  router.only(.post, "/rooms/:room/topic") { request, context in
    let (member, text, _) = try await sent(request, context, limit: RoomTopic.textLimit)
    try await chat.change(topic: text, as: member)
    return Response(status: .accepted)
  }
  return router
}

/// The router at the port for administrators.
///
/// ```
/// GET  /health                  200 if the other servers can be reached, 503 if not
/// GET  /wiring, /metrics        which listeners there are; what is delivered
/// ```
func adminRoutes(
  to chat: Chat, metrics: MetricSums, origins: Origins
) -> Router<BasicRequestContext> {
  let router = makeRouter(origins)
  router.only(.get, "/health") { _, _ in
    let state = chat.carriage.condition
    var answer = text("\(state)\n")
    if !state.isWell { answer.status = .serviceUnavailable }
    return answer
  }
  router.only(.get, "/wiring") { _, _ in text(await chat.wiring()) }
  router.only(.get, "/metrics") { _, _ in text(metrics.text) }
  return router
}

private func makeRouter(_ origins: Origins) -> Router<BasicRequestContext> {
  let router = Router()
  // The page may read the refusals, too.
  router.add(middleware: PlainErrors(origins: origins))
  router.add(middleware: OriginCheck(origins: origins))
  return router
}

extension Router<BasicRequestContext> {
  /// Answers requests for a path, and refuses other methods with a sentence.
  fileprivate func only(
    _ method: HTTPRequest.Method, _ path: RouterPath,
    _ answer: @escaping @Sendable (Request, BasicRequestContext) async throws -> Response
  ) {
    on(path, method: method, use: answer)
    for other: HTTPRequest.Method in [.get, .post, .put, .patch, .delete, .head]
    where other != method {
      on(path, method: other) { _, _ -> Response in
        throw HTTPError(
          .methodNotAllowed, headers: [.allow: method.rawValue],
          message: "\(other) is not possible here, but \(method) is.")
      }
    }
  }
}

/// Lets a browser leave with the last reference to its answer. The body of the answer is not written if the browser has
/// disconnected before its head is written.
private final class Stay: Sendable {
  let connection: Connection
  private let chat: Chat

  init(_ connection: Connection, in chat: Chat) {
    (self.connection, self.chat) = (connection, chat)
  }

  deinit { Task { [chat, connection] in await chat.leave(connection) } }
}

private func stream(
  _ connection: Connection, of request: Request, to writer: inout any ResponseBodyWriter
) async throws {
  try await writer.write(ByteBuffer(string: "retry: 500\n\n"))
  try await request.body.consumeWithInboundCloseHandler { _ in
    for await event in connection.events {
      let missed = connection.takeMissed()
      if missed > 0 {
        try await writer.write(ByteBuffer(string: ServerEvent("missed", missed).text))
      }
      try await writer.write(ByteBuffer(string: event.text))
    }
  } onInboundClosed: {
    connection.end()
  }
}

private func sent(
  _ request: Request, _ context: BasicRequestContext, limit: Int
) async throws -> (Member, String, String?) {
  let body: ByteBuffer
  do { body = try await request.body.collect(upTo: 16_384) } catch is NIOTooManyBytesError {
    throw HTTPError(.contentTooLarge, message: "The request is larger than 16 kB.")
  }
  guard let string = String(validating: body.readableBytesView, as: UTF8.self) else {
    throw HTTPError(.badRequest, message: "The request is not in UTF-8.")
  }
  guard let sent = try? JSONDecoder().decode(Sent.self, from: Data(string.utf8)) else {
    throw HTTPError(
      .badRequest, message: "The request is no JSON object with name, client and text.")
  }
  let text = sent.text.trimmingCharacters(in: .whitespacesAndNewlines)
  guard text.count <= limit, text.utf8.count <= 4 * limit else {
    throw HTTPError(.contentTooLarge, message: "The text is longer than \(limit) characters.")
  }
  return (try member(in: context, name: sent.name, client: sent.client), text, sent.id)
}

private func member(in context: BasicRequestContext, name: String, client: String) throws -> Member
{
  let name = name.trimmingCharacters(in: .whitespaces)
  guard Member.isName(name) else {
    throw HTTPError(.badRequest, message: "A name has 1 to 32 characters.")
  }
  guard Member.isClient(client) else {
    throw HTTPError(.badRequest, message: "A client has 8 to 64 bytes.")
  }
  return Member(room: try context.parameters.require("room"), name: name, client: client)
}

private func text(_ text: String, _ type: String = "text/plain; charset=utf-8") -> Response {
  Response(
    status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
    body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
}

/// Answers each error with a sentence in plain text.
private struct PlainErrors<Context: RequestContext>: RouterMiddleware {
  let origins: Origins

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var answer = try await answer(request, context: context, next: next)
    // A browser must not take text for anything else.
    answer.headers[.xContentTypeOptions] = "nosniff"
    if answer.headers[.contentSecurityPolicy] == nil {
      answer.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
    }
    if let origin = request.headers[.origin],
      origins.allows(origin, at: request.head.authority ?? "")
    {
      answer.headers[.accessControlAllowOrigin] = origin
    }
    return answer
  }

  private func answer(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch let error as HTTPError {
      return answer(error.status, error.body ?? "There is nothing here.", error.headers)
    } catch let error as CarrierError {
      let isTooLarge = if case .tooLarge = error { true } else { false }
      return answer(isTooLarge ? .contentTooLarge : .serviceUnavailable, error.description)
    } catch let refusal as Refusal {
      return switch refusal {
      case .noSuchRoom(let room): answer(.notFound, "There is no room \(room).")
      case .nameTaken(let name): answer(.conflict, "\(name) is here already. Take another name.")
      case .full: answer(.serviceUnavailable, "This server is full. Use another one.")
      case .notHere: answer(.forbidden, "Join the room before you write there.")
      case .closing: answer(.serviceUnavailable, "This server ends. Use another one.")
      }
    }
  }

  private func answer(
    _ status: HTTPResponse.Status, _ sentence: String, _ headers: HTTPFields = [:]
  ) -> Response {
    var response = text(sentence + "\n")
    response.status = status
    response.headers.append(contentsOf: headers)
    return response
  }
}

extension HTTPField.Name {
  static let lastEventID = HTTPField.Name("Last-Event-ID")!  // a valid name
}
