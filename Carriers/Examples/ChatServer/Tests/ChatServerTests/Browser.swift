import Foundation
import MulticastCarrierTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

/// A connection that sends one request after the other. The protocol is SwiftNIO's.
struct Wire {
  typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
  fileprivate var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
  fileprivate let outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
  private var buffer: [UInt8] = []
  private var searched = 0

  struct Answer {
    var status: UInt
    var text: String
    var headers = HTTPHeaders()
  }

  fileprivate init(
    _ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
    _ outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
  ) {
    parts = inbound.makeAsyncIterator()
    self.outbound = outbound
  }

  func send(_ method: String, _ path: String, _ headers: [(String, String)], _ body: [UInt8])
    async throws
  {
    var head = HTTPRequestHead(version: .http1_1, method: .RAW(value: method), uri: path)
    head.headers = HTTPHeaders([("Host", "localhost"), ("Content-Length", "\(body.count)")])
    for (name, value) in headers { head.headers.replaceOrAdd(name: name, value: value) }
    try await outbound.write(.head(head))
    if !body.isEmpty { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
    try await outbound.write(.end(nil))
  }

  mutating func ask(
    _ method: String, _ path: String, headers: [(String, String)] = [], _ body: [UInt8] = []
  ) async throws -> Answer {
    try await send(method, path, headers, body)
    var answer = Answer(status: 0, text: "")
    while let part = try await parts.next() {
      switch part {
      case .head(let head): (answer.status, answer.headers) = (head.status.code, head.headers)
      case .body(let bytes): answer.text += String(buffer: bytes)
      case .end: return answer
      }
    }
    throw POSIXError(.ECONNRESET)
  }

  /// Returns the next server-sent event; nil at the end of the stream.
  mutating func event() async throws -> Event? {
    while true {
      while searched + 1 < buffer.count {
        defer { searched += 1 }
        guard buffer[searched] == 0x0A, buffer[searched + 1] == 0x0A else { continue }
        let event = Event(String(decoding: buffer[..<searched], as: UTF8.self))
        buffer.removeSubrange(...(searched + 1))
        searched = -1
        if !event.name.isEmpty { return event }
      }
      switch try await parts.next() {
      case nil, .end: return nil
      case .head(let head):
        guard head.status == .ok else { throw Refused(status: head.status.code) }
      case .body(let bytes): buffer += bytes.readableBytesView
      }
    }
  }
}

struct Refused: Error, Equatable { let status: UInt }

struct Event: Sendable {
  var id = ""
  var name = ""
  var data = ""
  /// Parsed once, because a test that waits for an event asks again and again.
  private var texts: [String: String] = [:]

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      switch parts[0] {
      case "id": id = parts[1]
      case "event": name = parts[1]
      case "data": data = parts[1]
      default: break
      }
    }
    texts = object.compactMapValues { $0 as? String }
  }

  var object: [String: Any] {
    let object = try? JSONSerialization.jsonObject(with: Data(data.utf8))
    return object as? [String: Any] ?? [:]
  }

  subscript(_ key: String) -> String { texts[key] ?? "" }
}

/// Connects to a port of this machine while a body runs.
func withWire<Result: Sendable>(
  _ port: Int, _ body: @Sendable @escaping (Wire) async throws -> Result
) async throws -> Result {
  let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    // A small buffer, so that a browser that does not read makes the server wait soon.
    .channelOption(.socketOption(.so_rcvbuf), value: 65_536)
    .connect(host: "127.0.0.1", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHTTPClientHandlers()
        return try Wire.Channel(wrappingChannelSynchronously: channel)
      }
    }
  return try await channel.executeThenClose { inbound, outbound in
    try await body(Wire(inbound, outbound))
  }
}

/// Sends the beginning of a request, and then single bytes. Returns when the server has closed the connection.
func drip(_ beginning: String, to port: Int) async throws {
  let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .connect(host: "127.0.0.1", port: port).get()
  try await channel.writeAndFlush(ByteBuffer(string: beginning))
  try await eventually("the server ends it") {
    try await Task.sleep(for: .milliseconds(500))
    return (try? await channel.writeAndFlush(ByteBuffer(string: "a"))) == nil || !channel.isActive
  }
  try? await channel.close()
}

/// A browser that listens to a room, and sends messages.
final class Browser: Sendable {
  let server: Server
  let room: String
  let name: String
  let client: String
  private let log = Mutex<(events: [Event], end: String?)>(([], nil))
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Returns when all browsers in the room have received its arrival.
  init(
    _ server: Server, _ name: String, room: String = "lobby", client: String = UUID().uuidString,
    after last: String? = nil
  ) async throws {
    self.server = server
    self.room = room
    self.name = name
    self.client = client
    let path = "/rooms/\(room)/events?name=\(name)&client=\(client)"
    task.withLock { task in
      task = Task { [weak self, port = server.port] in
        var end = "end"
        do {
          try await withWire(port) { [weak self] wire in
            var wire = wire
            try await wire.send("GET", path, last.map { [("Last-Event-ID", $0)] } ?? [], [])
            while let event = try await wire.event() {
              self?.log.withLock { $0.events.append(event) }
            }
          }
        } catch { end = "\(error)" }
        self?.log.withLock { $0.end = end }
      }
    }
    try await eventually("\(name) is in \(room)") {
      try #require(self.end == nil, "\(self.end ?? "")")
      return self.events("hello").count == 1
    }
  }

  deinit { task.withLock { $0?.cancel() } }

  func leave() async {
    let task = task.withLock { $0 }
    task?.cancel()
    await task?.value
  }

  var end: String? { log.withLock { $0.end } }
  func events(_ name: String) -> [Event] { log.withLock { $0.events.filter { $0.name == name } } }
  var said: [String] { events("said").map { $0["text"] } }
  var notices: String { events("notice").map(\.data).joined(separator: "\n") }
  /// The names of the people in the room, as the page computes them.
  var here: Set<String> {
    events("here").reduce(into: []) { names, event in
      let object = event.object
      if let all = object["names"] as? [String] { names = Set(all) }
      names.formUnion(object["came"] as? [String] ?? [])
      names.subtract(object["gone"] as? [String] ?? [])
    }
  }
  var servers: String { events("servers").last?.data ?? "" }
  var isAlone: Bool { events("alone").last?.data == "true" }

  func hears(_ text: String) async throws {
    try await eventually("\(name) hears \(text)") { self.said.contains(text) }
  }

  /// Sends these messages one after the other. Returns the status of the last answer.
  @discardableResult
  func say(
    _ texts: [String], kind: String = "messages", id: String? = nil
  ) async throws -> UInt {
    let sent = try texts.map {
      try Array(
        JSONEncoder().encode(["name": name, "client": client, "text": $0, "id": id ?? "\(UUID())"]))
    }
    return try await withWire(server.port) { [room] wire in
      var wire = wire
      var status: UInt = 0
      for body in sent {
        status = try await wire.ask("POST", "/rooms/\(room)/\(kind)", body).status
      }
      return status
    }
  }
  @discardableResult
  func say(_ text: String) async throws -> UInt { try await say([text]) }
}

/// A headless Chromium, controlled over a pair of pipes. It is killed when the test releases this object, and its child processes
/// then end by themselves.
actor Chromium {
  private let program: Program
  private let input: Int32
  private let output: Int32
  private var received: [UInt8] = []
  private var last = 0

  init() async throws {
    // A pipe that this process opens for reading and writing does not block.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Pipes-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let pipes = ["in", "out"].map { folder.appendingPathComponent($0).path }
    for pipe in pipes { try #require(mkfifo(pipe, 0o600) == 0) }
    input = open(pipes[0], O_RDWR | O_CLOEXEC)
    output = open(pipes[1], O_RDWR | O_CLOEXEC | O_NONBLOCK)
    program = try Program(
      "/bin/sh",
      [
        "-c",
        """
        exec "${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
          --no-first-run --disable-background-networking --remote-debugging-pipe \
          --disable-background-timer-throttling --disable-backgrounding-occluded-windows \
          --disable-renderer-backgrounding \
          --user-data-dir=FOLDER/profile about:blank 3<'\(pipes[0])' 4>'\(pipes[1])'
        """,
      ])
    // The pipes keep their names until Chromium has opened them.
    try await eventually("Chromium starts") { [program] in
      try #require(program.isRunning, "\(program.text("err"))")
      return FileManager.default.fileExists(atPath: program.path("profile"))
    }
  }

  deinit {
    close(input)
    close(output)
  }

  func show(_ address: String) async throws -> String {
    let target = try await call("Target.createTarget", ["url": address])["targetId"] ?? ""
    return try await call("Target.attachToTarget", ["targetId": target, "flatten": true])[
      "sessionId"] ?? ""
  }

  /// There is no page for a moment, because one is loading. The expression was not evaluated then.
  private struct NoPage: Error {}

  /// Evaluates an expression in a page, and returns it as text.
  @discardableResult
  func evaluate(_ expression: String, in page: String) async throws -> String {
    var text = ""
    try await eventually("the page is there") {
      do {
        text =
          try await call("Runtime.evaluate", ["expression": "String(\(expression))"], page)["value"]
          ?? ""
        return true
      } catch is NoPage { return false }
    }
    return text
  }

  func screenshot(of page: String, width: Int, height: Int) async throws -> Data {
    _ = try await call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false], page)
    return try #require(
      Data(base64Encoded: try await call("Page.captureScreenshot", [:], page)["data"] ?? ""))
  }

  /// Calls a method of the DevTools protocol. Returns the texts of its result.
  private func call(
    _ method: String, _ parameters: [String: Any] = [:], _ session: String? = nil
  ) async throws -> [String: String] {
    last += 1
    let id = last
    var message: [String: Any] = ["id": id, "method": method, "params": parameters]
    message["sessionId"] = session
    var bytes = try Array(JSONSerialization.data(withJSONObject: message)) + [0]
    while !bytes.isEmpty {
      let count = write(input, bytes, bytes.count)
      try #require(count > 0)
      bytes.removeFirst(count)
    }
    var answer: [String: String]?
    try await eventually("\(method) is answered") {
      try #require(program.isRunning, "\(program.text("err").suffix(500))")
      answer = try next(id)
      return answer != nil
    }
    return answer ?? [:]
  }

  private func next(_ id: Int) throws -> [String: String]? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(output, &chunk, chunk.count), count > 0 {
      received += chunk[..<count]
    }
    while let end = received.firstIndex(of: 0) {
      let message = try JSONSerialization.jsonObject(with: Data(received[..<end])) as? [String: Any]
      received.removeSubrange(...end)
      guard let message, message["id"] as? Int == id else { continue }
      let error = (message["error"] as? [String: Any])?["message"] as? String ?? ""
      if error.contains("default execution context") || error.contains("target navigated") {
        throw NoPage()
      }
      try #require(message["error"] == nil, "\(message)")
      let result = message["result"] as? [String: Any] ?? [:]
      try #require(result["exceptionDetails"] == nil, "\(result)")
      return (result["result"] as? [String: Any] ?? result).compactMapValues { $0 as? String }
    }
    return nil
  }
}
