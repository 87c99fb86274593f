import Foundation
import Logging
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import Testing

/// Three processes and a real engine.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ClusterTests {
  private func servers(_ engine: Engine, _ arguments: String...) async throws -> [Server] {
    var servers: [Server] = []
    for name in ["north", "east", "south"] {
      servers.append(
        try await Server(name, "--engine", engine.url, "--rooms", arguments.first ?? "lobby"))
    }
    return servers
  }

  /// Returns when every process knows all others.
  private func know(_ browsers: [Browser], _ servers: [Server]) async throws {
    for browser in browsers {
      try await eventually("\(browser.name) knows all servers") {
        servers.allSatisfy { browser.servers.contains(":\($0.port)\"") }
      }
    }
  }

  @Test func everyProcessReceivesEachMessageOnceInOrder() async throws {
    let rooms = (0..<20).map { "room\($0)" }
    let engine = try await engine()
    let servers = try await servers(engine, rooms.joined(separator: ","))
    var browsers: [Browser] = []
    for number in 0..<200 {
      browsers.append(
        try await Browser(servers[number % 3], "b\(number)", room: rooms[number / 10]))
    }
    try await know(browsers, servers)
    // Five people write in each room, on all three servers, 40 messages each.
    try await withThrowingTaskGroup { group in
      for browser in browsers where Int(browser.name.dropFirst())! % 2 == 0 {
        group.addTask { try await browser.say((0..<40).map { "\(browser.name) \($0)" }) }
      }
      try await group.waitForAll()
    }
    for browser in browsers {
      let events = { browser.events("said") }
      try await eventually("\(browser.name) hears all") { events().count >= 200 }
      let heard = Dictionary(grouping: events(), by: { $0["name"] })
      #expect(heard.count == 5)
      for (name, events) in heard {
        #expect(events.map { $0["text"] } == (0..<40).map { "\(name) \($0)" })
      }
      #expect(browser.events("missed").isEmpty)
    }
    for browser in browsers { await browser.leave() }
    withExtendedLifetime(engine) {}
  }

  @Test func nothingIsMissedWhenTheEngineIsKilledAndComesBack() async throws {
    var engine = try await ChatServerTests.engine()
    let servers = try await servers(engine)
    var browsers: [Browser] = []
    for server in servers { browsers.append(try await Browser(server, "at-\(server.port)")) }
    try await know(browsers, servers)
    let (north, east, south) = (browsers[0], browsers[1], browsers[2])
    try await north.say("before")
    for browser in browsers { try await browser.hears("before") }

    try await engine.program.kill9()
    for browser in browsers {
      try await eventually("\(browser.name) sees the outage") { browser.isAlone }
    }
    // A person who joins during an outage receives the state of the carriage.
    let late = try await Browser(servers[0], "late")
    try await eventually("late sees the outage") { late.isAlone }
    #expect(try await north.say("meanwhile") == 202)
    try await north.hears("meanwhile")

    // One process is stopped while the others connect again and post. It misses no message either.
    servers[2].program.signal(SIGSTOP)
    engine = try await ChatServerTests.engine(again: engine)
    for browser in [north, east] {
      try await eventually("\(browser.name) is connected") { !browser.isAlone }
    }
    try await north.say((0..<5).map { "asleep \($0)" })
    try await east.hears("asleep 4")
    servers[2].program.signal(SIGCONT)
    for browser in browsers { try await browser.say("after \(browser.name)") }
    let all = ["before", "meanwhile"] + (0..<5).map { "asleep \($0)" } + ["after \(north.name)"]
    for browser in browsers {
      for other in browsers { try await browser.hears("after \(other.name)") }
      #expect(Set(browser.said).count == browser.said.count)
      #expect(browser.said.filter { all.contains($0) } == all)
      #expect(browser.events("notice").isEmpty)
    }
    for browser in browsers + [late] { await browser.leave() }
    withExtendedLifetime(engine) {}
    _ = south
  }

  @Test func browsersOfAKilledServerGoOnElsewhere() async throws {
    let engine = try await engine()
    let servers = try await servers(engine)
    let ann = try await Browser(servers[0], "Ann")
    let bob = try await Browser(servers[1], "Bob")
    try await know([ann, bob], servers)
    try await ann.say(["one topic"], kind: "topic")
    try await bob.say("1")
    try await ann.hears("1")
    let watcher = try await Browser(servers[2], "watcher")
    try await eventually("the third server knows Ann") { watcher.here.contains("Ann") }
    // No other client can take her name, at any server.
    await #expect(throws: Refused(status: 409)) {
      try await withWire(servers[2].port) { wire in
        var wire = wire
        try await wire.send("GET", "/rooms/lobby/events?name=Ann&client=somebody-else", [], [])
        _ = try await wire.event()
      }
    }
    try await servers[0].program.kill9()
    try await eventually("Ann's stream breaks") { ann.end != nil }
    try await bob.say("2")

    // She herself can join immediately.
    let last = try #require(ann.events("said").last).id
    let again = try await Browser(servers[2], "Ann", client: ann.client, after: last)
    try await again.hears("2")
    // Another process has an order of its own, so it sends all messages. The page skips the ones that it has.
    let known = Set(ann.events("said").map { $0["id"] })
    #expect(again.events("said").filter { !known.contains($0["id"]) }.map { $0["text"] } == ["2"])
    try await eventually("the topic is still there") {
      again.events("topic").last?["text"] == "one topic"
    }
    try await eventually("the killed server is forgotten") {
      !bob.servers.contains(":\(servers[0].port)\"")
    }
    // A new process receives the topic from the others.
    let new = try await Server("west", "--engine", engine.url, "--rooms", "lobby")
    let cid = try await Browser(new, "Cid")
    try await eventually("Cid sees the topic") {
      cid.events("topic").last?["text"] == "one topic"
    }
    try await again.say("3")
    for browser in [bob, cid] { try await browser.hears("3") }
    for browser in [again, bob, cid, watcher] { await browser.leave() }
  }

  /// A client of the engine publishes messages that no server sends.
  @Test func aForgedMessageDoesNotBecomeAnEventOfItsOwn() async throws {
    struct Forged: Codable, Sendable { var id, room, name, text: String, time = 0 }
    let engine = try await engine()
    let servers = try await servers(engine)
    let ann = try await Browser(servers[0], "Ann")
    let center = MulticastCenter(carrying: .carriage)
    let carriage = Carriage(
      center: center, carrier: try carrier(engine), name: "forger",
      prefix: "chat", logger: Logger(label: "forger") { _ in SwiftLogNoOpLogHandler() })
    let topic = Topic<Forged>("said")
    carriage.carry(topic, as: "said")
    let task = Task { await carriage.run() }
    let long = String(repeating: "x", count: 100_000)
    for (id, name, text) in [
      ("12345678\n\nevent: notice\ndata: \"forged\"\n\nid: 1", "Eve", "an id of two lines"),
      ("12345678\r\revent: notice\rdata: \"forged\"\r\r", "Eve", "an id of other lines"),
      ("1", "Eve", "a short id"), (long, "Eve", "a long id"), ("123456789", long, "a long name"),
      ("1234567890", "Eve", long),
    ] { center.post(topic, Forged(id: id, room: "lobby", name: name, text: text)) }
    center.post(topic, Forged(id: "the last one", room: "lobby", name: "Eve", text: "sound"))
    try await ann.hears("sound")
    #expect(ann.said == ["sound"])
    #expect(!ann.notices.contains("forged"))
    task.cancel()
    await task.value
    await ann.leave()
    withExtendedLifetime(servers) {}
  }

  @Test func startsWithoutAnEngineAndFindsItLater() async throws {
    var engine = try await engine()
    try await engine.program.kill9()
    let servers = try await servers(engine)
    let ann = try await Browser(servers[0], "Ann")
    let bob = try await Browser(servers[1], "Bob")
    try await ann.say("alone")
    try await ann.hears("alone")
    try await eventually("the outage is reported") {
      servers[0].program.text("err").contains("disconnected")
    }
    engine = try await ChatServerTests.engine(again: engine)
    try await know([ann, bob], servers)
    try await ann.say("together")
    try await bob.hears("together")
    for browser in [ann, bob] { await browser.leave() }
    withExtendedLifetime(engine) {}
  }

  @Test func losesNoAcceptedMessageWhenItEnds() async throws {
    let engine = try await engine()
    let servers = try await servers(engine)
    let ann = try await Browser(servers[0], "Ann")
    let bob = try await Browser(servers[1], "Bob")
    try await know([ann, bob], servers)
    var accepted: [String] = []
    while accepted.count < 300, (try? await ann.say("\(accepted.count)")) == 202 {
      accepted.append("\(accepted.count)")
      if accepted.count == 50 { servers[0].program.signal(SIGTERM) }
    }
    #expect(try await servers[0].program.status() == 0)
    #expect(accepted.count >= 50)
    for text in accepted { try await bob.hears(text) }
    #expect(bob.said.filter { accepted.contains($0) } == accepted)
    await bob.leave()
    withExtendedLifetime(engine) {}
  }
}
