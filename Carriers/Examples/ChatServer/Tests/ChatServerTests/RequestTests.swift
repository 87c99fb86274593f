import Foundation
import MulticastCarrierTesting
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import ChatServer

/// One process, in memory.
@Suite(.timeLimit(.minutes(60))) struct RequestTests {
  @Test func answersBadInputWithAStatusAndASentence() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann", client: "client-of-ann")
    func body(_ text: String, name: String = "Ann", client: String = "client-of-ann") throws
      -> [UInt8]
    {
      try Array(
        JSONEncoder().encode([
          "name": name, "client": client, "text": text, "id": "an id of a message",
        ]))
    }
    let messages = "/rooms/lobby/messages"
    let events = "/rooms/lobby/events"
    let cases: [(String, String, [UInt8], UInt, String)] = [
      ("POST", "/rooms/attic/messages", try body("Hello"), 404, "There is no room attic."),
      ("GET", "/rooms/attic/events?name=Bob&client=12345678", [], 404, "There is no room attic."),
      ("POST", messages, try body(" \n "), 400, "The message is empty."),
      (
        "POST", messages, try body(String(repeating: "x", count: 2_001)), 413,
        "The text is longer than 2000 characters."
      ),
      (
        "POST", messages, try body(String(repeating: "x", count: 20_000)), 413,
        "The request is larger than 16 kB."
      ),
      (
        "POST", messages, Array("{\"text\":\"".utf8) + [0xC3, 0x28], 400,
        "The request is not in UTF-8."
      ),
      (
        "POST", messages, Array("[]".utf8), 400,
        "The request is no JSON object with name, client and text."
      ),
      (
        "POST", messages, Array(#"{"name":"Ann","client":"client-of-ann","text":"x"}"#.utf8), 400,
        "A message has an id of 8 to 64 bytes."
      ),
      ("POST", messages, try body("x", client: "short"), 400, "A client has 8 to 64 bytes."),
      (
        "POST", messages, try body("x", name: "Bob"), 403,
        "Join the room before you write there."
      ),
      (
        "POST", messages, try body("x", client: "somebody-else"), 403,
        "Join the room before you write there."
      ),
      (
        "GET", events + "?name=Ann&client=somebody-else", [], 409,
        "Ann is here already. Take another name."
      ),
      ("GET", events + "?name=&client=somebody-else", [], 400, "A name has 1 to 32 characters."),
      (
        "GET", events + "?name=%FF%FE&client=somebody-else", [], 400,
        "A name has 1 to 32 characters."
      ),
      ("GET", messages, [], 405, "GET is not possible here, but POST is."),
      ("DELETE", "/", [], 405, "DELETE is not possible here, but GET is."),
      ("GET", "/attic", [], 404, "There is nothing here."),
    ]
    for (method, path, bytes, status, sentence) in cases {
      let answer = try await withWire(server.port) { wire in
        var wire = wire
        return try await wire.ask(method, path, bytes)
      }
      #expect(
        answer.status == status && answer.text == sentence + "\n", "\(method) \(path): \(answer)")
    }
    #expect(try await ann.say("still here") == 202)
    try await ann.hears("still here")
    #expect(ann.said == ["still here"])
    await ann.leave()
  }

  @Test func endsWithASentenceIfItCannotStart() async throws {
    let server = try await Server("one")
    let built = try Program.built("ChatServer")
    let environment = try Program("/usr/bin/env", ["CHAT_ENGINE=valkey://:secret@db", built])
    #expect(try await environment.status() == 2)
    #expect(environment.text("err").contains("ChatServer: The address of an engine begins with"))
    #expect(!environment.text("err").contains("secret"))
    for (arguments, sentence) in [
      (["--admin", "0", "--port", "\(server.port)"], "Port \(server.port) is in use."),
      (["--port", "0", "--admin", "\(server.admin)"], "Port \(server.admin) is in use."),
      (["--port", "99999"], "99999 is no port."),
      (["--admin", "localhost:x"], "x is no port."),
      (["--port"], "--port needs a value."),
      (["--request-timeout", "0"], "0 is no number of seconds."),
      (["--rooms", "a/b"], "Rooms have names of letters and digits."),
      (["--verbose", "yes"], "There is no option --verbose."),
      (["--engine", "nonsense"], "The address of an engine begins with"),
      (["--engine", "redis://"], "redis:// is not an address"),
      (["--peers", "ftp://x"], "Peers are addresses"),
    ] {
      let program = try Program(built, arguments)
      #expect(try await program.status() == 2)
      #expect(program.text("err").contains("ChatServer: \(sentence)"), "\(program.text("err"))")
    }
  }

  @Test func showsTheTopicAndTheLastMessagesToALatePage() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann")
    try await ann.say(["One topic", "Another topic"], kind: "topic")
    try await ann.say(["1", "2", "3"])
    try await ann.hears("3")
    let bob = try await Browser(server, "Bob")
    try await bob.hears("3")
    try await eventually("Bob sees the topic") { !bob.events("topic").isEmpty }
    #expect(bob.said == ["1", "2", "3"])
    #expect(bob.events("topic").map { $0["text"] } == ["Another topic"])
    try await eventually("Ann sees Bob") { ann.here == ["Ann", "Bob"] }

    // A page that comes back receives all messages that are kept, and skips the ones that it has.
    let last = try #require(bob.events("said").first).id
    await bob.leave()
    try await eventually("Ann sees that Bob has left") { !ann.here.contains("Bob") }
    let again = try await Browser(server, "Bob", client: bob.client, after: last)
    try await again.hears("3")
    #expect(again.said == ["1", "2", "3"])
    #expect(again.events("missed").isEmpty)
    #expect(
      try await server.get("/wiring", at: server.admin).contains(
        "Topic<RoomTopic>(\"topic of lobby\""))
    await ann.leave()
    await again.leave()
  }

  @Test func postsAMessageOnceHoweverOftenItIsSent() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann")
    for _ in 0..<3 { #expect(try await ann.say(["once"], id: "the id of this one") == 202) }
    try await ann.say("after")
    try await ann.hears("after")
    #expect(ann.said == ["once", "after"])
    await ann.leave()
  }

  @Test func aPageThatComesBackTooLateLearnsThatItHasMissedMessages() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann")
    let bob = try await Browser(server, "Bob")
    try await ann.say("first")
    try await bob.hears("first")
    let last = try #require(bob.events("said").first).id
    await bob.leave()
    try await ann.say((0..<600).map { "\($0)" })
    let again = try await Browser(server, "Bob", client: bob.client, after: last)
    try await again.hears("599")
    #expect(again.events("missed").count == 1)
    #expect(again.said == (100..<600).map { "\($0)" })
    for browser in [ann, again] { await browser.leave() }
  }

  @Test func pagesOfOtherOriginsCannotUseIt() async throws {
    let server = try await Server("one", "--peers", "http://127.0.0.1:7777")
    let ann = try await Browser(server, "Ann", client: "client-of-ann")
    let body = Array(
      #"{"name":"Ann","client":"client-of-ann","text":"x","id":"12345678"}"#.utf8)
    for (origin, status) in [
      ("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:7778", 403),
      ("http://127.0.0.1:7777", 202), (server.address, 202),
    ] {
      let answer = try await withWire(server.port) { wire in
        var wire = wire
        return try await wire.ask(
          "POST", "/rooms/lobby/messages",
          headers: [("Origin", origin), ("Host", "127.0.0.1:\(server.port)")], body)
      }
      #expect(answer.status == UInt(status), "\(origin)")
    }
    await ann.leave()
  }

  @Test func reportsItsHealthBeatsAndMetrics() async throws {
    let server = try await Server("one")
    try await eventually("it says so") {
      try await server.get("/health", at: server.admin).contains("connected")
    }
    let ann = try await Browser(server, "Ann")
    try await eventually("a beat comes") { !ann.events("beat").isEmpty }
    // The server counts its messages with swift-metrics.
    try await ann.say("counted")
    for name in ["multicast_carrier_sent_total", "multicast_carrier_connections_total"] {
      try await eventually("\(name) is there") { try await server.metric(name) > 0 }
    }
    await ann.leave()
  }

  /// A visitor of the page cannot read them, and neither can a page in an administrator's browser.
  @Test func reportsAreAtAPortOfTheirOwn() async throws {
    let server = try await Server("one", "--peers", "http://127.0.0.1:7777")
    // Before, `/health` has another status.
    try await eventually("it is connected") {
      try await server.get("/health", at: server.admin).contains("connected")
    }
    for path in ["/health", "/metrics", "/wiring"] {
      for (port, headers, status) in [
        (server.admin, [], 200), (server.port, [], 404),
        (server.admin, [("Origin", "http://127.0.0.1:7777")], 403),
        (server.admin, [("Host", "evil.example")], 421),
      ] as [(Int, [(String, String)], UInt)] {
        let answer = try await withWire(port) { wire in
          var wire = wire
          return try await wire.ask("GET", path, headers: headers)
        }
        #expect(answer.status == status, "\(path), \(headers): \(answer.text)")
      }
    }
    #expect(server.program.text("out").contains("one reports at http://127.0.0.1:"))
  }

  @Test func aNewVisitorHasMissedNothing() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann")
    try await ann.say("before")
    try await ann.hears("before")
    let events = try await withWire(server.port) { wire in
      var wire = wire
      try await wire.send("GET", "/rooms/lobby/events?name=Bob&client=12345678&after=", [], [])
      var names: [String] = []
      while names.last != "here", let event = try await wire.event() { names.append(event.name) }
      return names
    }
    #expect(events.contains("said") && !events.contains("missed"), "\(events)")
    await ann.leave()
  }

  /// A server that listens at all addresses of its machine, and is asked under different names.
  @Test func answersOnlyRequestsThatAreMeantForIt() async throws {
    let server = try await Server(
      "one", "--host", "0.0.0.0", "--peers", "https://chat.example,http://other.example:81")
    let ann = try await Browser(server, "Ann", client: "client-of-ann")
    let port = server.port
    #expect(server.program.text("out").contains("http://localhost:\(port)"))
    let body = Array(#"{"name":"Ann","client":"client-of-ann","text":"x","id":"12345678"}"#.utf8)
    let cases: [(host: String, origin: String?, status: UInt)] = [
      ("127.0.0.1:\(port)", "http://127.0.0.1:\(port)", 202),
      ("192.0.2.7:\(port)", "http://192.0.2.7:\(port)", 202),
      ("[fd00::7]:\(port)", "http://[fd00::7]:\(port)", 202), ("localhost", nil, 202),
      ("localhost:99", "http://localhost:99", 202),
      ("chat.example", "https://chat.example", 202),
      ("192.0.2.7:\(port)", "https://chat.example", 202),
      // An attacker's name may lead here, and the attacker's page may be at another address.
      ("evil.example:\(port)", "http://evil.example:\(port)", 421), ("evil.example", nil, 421),
      ("", nil, 421), ("127.0.0.1:\(port)", "http://192.0.2.7:\(port)", 403),
      ("127.0.0.1:\(port)", "http://127.0.0.1:1", 403), ("127.0.0.1:\(port)", "null", 403),
    ]
    for (host, origin, status) in cases {
      let headers = [("Host", host)] + (origin.map { [("Origin", $0)] } ?? [])
      let answer = try await withWire(port) { wire in
        var wire = wire
        return try await wire.ask("POST", "/rooms/lobby/messages", headers: headers, body)
      }
      #expect(answer.status == status, "\(host), \(origin ?? "no origin"): \(answer.text)")
    }
    await ann.leave()
  }

  @Test func answersForbidBrowsersToGuessTheirType() async throws {
    let server = try await Server("one", "--peers", "http://127.0.0.1:7777")
    for path in [
      "/", "/rooms", "/nowhere", "/rooms/attic/events?name=A&client=12345678",
    ] {
      let answer = try await withWire(server.port) { wire in
        var wire = wire
        return try await wire.ask("GET", path)
      }
      #expect(answer.headers["X-Content-Type-Options"] == ["nosniff"], "\(path)")
      let policy = answer.headers["Content-Security-Policy"].first ?? ""
      #expect(policy.contains("default-src 'none'"), "\(path)")
      #expect(policy.contains("frame-ancestors 'none'"), "\(path)")
      #expect(!policy.contains("unsafe"), "\(path)")
      guard path == "/" else { continue }
      #expect(policy.contains("connect-src 'self' http://127.0.0.1:7777;"))
      // Its own script is allowed by a number that is new each time.
      let number = policy.firstMatch(of: /script-src 'nonce-([0-9]+)'/)?.1 ?? ""
      #expect(answer.text.contains("<script type=\"module\" nonce=\"\(number)\">"))
      #expect(try await server.get("/") != answer.text)
    }
  }

  @Test func aSlowRequestIsNotWaitedFor() async throws {
    let server = try await Server("one", "--request-timeout", "10")
    let ann = try await Browser(server, "Ann")
    let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for number in 0..<100 {
        let beginning =
          number % 2 == 0
          ? "GET /rooms HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
          : "POST /rooms/lobby/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{"
        group.addTask { try await drip(beginning, to: server.port) }
      }
      try await group.waitForAll()
    }
    print("MEASURED slow requests are ended after:", ContinuousClock.now - start)
    // A stream, whose request was complete, goes on. So does a connection that sends another request.
    let beats = ann.events("beat").count
    try await eventually("beats come") { ann.events("beat").count > beats + 2 }
    #expect(ann.end == nil)
    await ann.leave()
  }

  /// The answer to the first request comes before its end.
  @Test func aRequestThatWasAnsweredBeforeItsEndIsNotWaitedFor() async throws {
    let server = try await Server("one", "--request-timeout", "1")
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: server.port).get()
    let request = "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n"
    try await channel.writeAndFlush(ByteBuffer(string: request))
    // If the answer takes longer, the order of both is as usual.
    try await Task.sleep(for: .milliseconds(500))
    // The server may have ended it by now.
    try? await channel.writeAndFlush(ByteBuffer(string: "a"))
    try await eventually("the server ends it") { !channel.isActive }
  }

  @Test func ofManySlowConnectionsTheOldestEnd() {
    let slow = SlowConnections(limit: 3)
    let channels = (0..<8).map { _ in EmbeddedChannel() }
    let ended = Mutex<Set<Int>>([])
    for (number, channel) in channels.enumerated() {
      channel.closeFuture.whenComplete { _ in ended.withLock { _ = $0.insert(number) } }
    }
    let start = NIODeadline.now()
    // Several at the same time are not slow yet.
    for channel in channels[..<6] { slow.add(channel, at: start) }
    #expect(ended.withLock { $0 } == [])
    // One of them has sent its request.
    slow.remove(channels[1])
    slow.add(channels[6], at: start + .seconds(2))
    for channel in channels { channel.embeddedEventLoop.run() }
    #expect(ended.withLock { $0 } == [0, 2, 3])
    slow.add(channels[7], at: start + .seconds(2))
    for channel in channels { channel.embeddedEventLoop.run() }
    #expect(ended.withLock { $0 } == [0, 2, 3, 4])
  }

  @Test func aSlowReaderReceivesTheNumberOfMissedMessages() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann")
    let text = String(repeating: "🐌", count: 1_990)
    let total = 2_500
    try await withWire(server.port) { wire in
      var wire = wire
      try await wire.send("GET", "/rooms/lobby/events?name=Snail&client=client-of-snail", [], [])
      try await eventually("Snail is here") { ann.here.contains("Snail") }
      // Ann reads as fast as messages come: the test posts the next ones after she has read the previous ones.
      for start in stride(from: 0, to: total, by: 100) {
        try await ann.say((start..<start + 100).map { "\($0) \(text)" })
        try await ann.hears("\(start + 99) \(text)")
      }
      // Only now does it read.
      var said = 0
      var missed = 0
      while said + missed < total, let event = try await wire.event() {
        if event.name == "said" { said += 1 }
        if event.name == "missed" { missed += try #require(Int(event.data)) }
      }
      #expect(missed > 0)
      #expect(said + missed >= total)
    }
    #expect(ann.said.count == total)
    await ann.leave()
  }

  @Test func losesNoAcceptedMessageWhenItEnds() async throws {
    let server = try await Server("one")
    let ann = try await Browser(server, "Ann")
    let accepted = await withTaskGroup(of: [String].self) { group in
      for poster in 0..<5 {
        group.addTask {
          var accepted: [String] = []
          while accepted.count < 100, (try? await ann.say("\(poster)-\(accepted.count)")) == 202 {
            accepted.append("\(poster)-\(accepted.count)")
            if poster == 0 && accepted.count == 10 { server.program.signal(SIGTERM) }
          }
          return accepted
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(try await server.program.status() == 0)
    try await eventually("the stream ends") { ann.end != nil }
    #expect(ann.end == "end")
    #expect(ann.events("closing").count == 1)
    #expect(Set(accepted).subtracting(ann.said) == [])
  }
}
