import Foundation
import Hummingbird
import Logging
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(60))) struct PresenceTests {
  /// Messages of a server may arrive after presence has reported its end.
  @Test func aServerThatPresenceDoesNotKnowIsForgotten() {
    var roster = Roster(rooms: ["lobby"])
    for node in ["here", "ghost"] {
      let member = Member(room: "lobby", name: node, client: "client of \(node)")
      roster.take(Attendance(node: node, server: node, address: "http://\(node)", came: [member]))
    }
    roster.forgetGhosts(["here"])
    #expect(roster.names(in: "lobby") == ["ghost", "here"], "It may have just joined.")
    roster.forgetGhosts(["here"])
    #expect(roster.names(in: "lobby") == ["here"])
    #expect(roster.servers.map(\.name) == ["here"])
  }

  /// A server with other rooms, or any client of the engine, may post them.
  @Test func peopleOfUnknownRoomsAreNotKept() {
    var roster = Roster(rooms: ["lobby"])
    let long = String(repeating: "x", count: 10_000)
    let came = [("attic", "a"), ("lobby", "b"), ("lobby", long)].map {
      Member(room: $0, name: $1, client: "client of \($1.prefix(1))")
    }
    roster.take(Attendance(node: "n", server: "s", address: "http://s", came: came))
    #expect(roster.members(of: "n") == [came[1]])
    #expect(roster.takeChanges(in: "attic").came.isEmpty)
    #expect(roster.takeChanges(in: "lobby").came == ["b"])
  }

  private func chat(streamLimit: Int) -> Chat {
    let center = MulticastCenter(carrying: .carriage)
    let carrier = InMemoryCarrier()
    return Chat(
      name: "small", rooms: ["lobby"], center: center,
      carriage: Carriage(center: center, carrier: carrier, name: "small", prefix: "chat"),
      presence: Presence(center: center, registry: carrier, name: "small"), streamLimit: streamLimit
    )
  }

  /// The server writes no body if the browser has disconnected before the head of the answer is written.
  @Test func aBrowserThatIsGoneBeforeItsAnswerIsNotHere() async throws {
    let chat = chat(streamLimit: 1)
    let routes = routes(to: chat, origins: Origins(host: "localhost", peers: []))
      .buildResponder()
    func ask(_ name: String) async throws -> HTTPResponse.Status {
      let path = "/rooms/lobby/events?name=\(name)&client=12345678"
      let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
      let source = ApplicationRequestContextSource(
        channel: EmbeddedChannel(), logger: Logger(label: "test"))
      return try await routes.respond(
        to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
        context: BasicRequestContext(source: source)
      ).status
    }
    #expect(try await ask("a") == .ok)
    try await eventually("there is room for another one") { try await ask("b") == .ok }
  }

  @Test func aServerThatIsFullRefusesStreams() async throws {
    let chat = chat(streamLimit: 2)
    func join(_ name: String) async throws -> Connection {
      try await chat.join(
        Member(room: "lobby", name: name, client: "client of \(name)"), after: nil)
    }
    let first = try await join("a")
    _ = try await join("b")
    await #expect(throws: Refusal.full) { try await join("c") }
    await chat.leave(first)
    _ = try await join("c")
  }

  /// A value from the engine is checked like one from a browser.
  @Test func aTopicOfARoomIsChecked() {
    #expect(RoomTopic(room: "a", text: "tea", name: "me").isSound(in: "a"))
    #expect(!RoomTopic(room: "b", text: "tea", name: "me").isSound(in: "a"))
    let long = String(repeating: "x", count: 10_000)
    #expect(!RoomTopic(room: "a", text: long, name: "me").isSound(in: "a"))
    #expect(!RoomTopic(room: "a", text: "tea", name: long).isSound(in: "a"))
  }

  /// Ten thousand people join within fifty beats, at three servers. Counts the events for all of them, and the messages
  /// between the servers.
  @Test func tenThousandPeopleMayJoin() async throws {
    let engine = InMemoryCarrier.Engine()
    var chats: [Chat] = []
    var carriers: [Counting] = []
    var tasks: [Task<Void, Never>] = []
    for name in ["north", "east", "south"] {
      let center = MulticastCenter(carrying: .carriage)
      let carrier = Counting(engine)
      carriers.append(carrier)
      let carriage = Carriage(
        center: center, carrier: carrier, name: name, prefix: "chat",
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      let presence = Presence(center: center, registry: InMemoryCarrier(engine), name: name)
      chats.append(
        Chat(
          name: name, rooms: ["lobby"], center: center, carriage: carriage, presence: presence,
          streamLimit: 10_000))
      tasks.append(Task { await carriage.run() })
      tasks.append(Task { await presence.run() })
    }
    for chat in chats {
      try await eventually("the servers know each other") {
        chat.presence.members.count == 3 && chat.carriage.condition.isWell
      }
    }
    var connections: [Connection] = []
    for beat in 0..<50 {
      for number in 0..<200 {
        let id = beat * 200 + number
        let member = Member(room: "lobby", name: "person \(id)", client: "client of \(id)")
        connections.append(try await chats[id % 3].join(member, after: nil))
      }
      for chat in chats { await chat.beat() }
      try await Task.sleep(for: .milliseconds(20))
    }
    try await eventually("all are known everywhere") {
      for chat in chats {
        await chat.beat()
        guard await chat.people == 10_000 else { return false }
      }
      return true
    }
    var told = 0
    for connection in connections {
      connection.end()
      for await event in connection.events { told += event.text.utf8.count }
    }
    let between = carriers.reduce(0) { $0 + $1.sent }
    print(
      "MEASURED 10,000 people join in 10 s: \((told + 2 * between) / 1_000_000) MB; goal 200 MB")
    #expect(told > 1_000_000 && between > 500_000)
    #expect(told + 2 * between < 200_000_000)
    for task in tasks { task.cancel() }
  }

  /// Counts the stored records.
  private final class Counting: Carrier {
    private let inner: InMemoryCarrier
    private let bytes = Mutex(0)
    init(_ engine: InMemoryCarrier.Engine) { inner = InMemoryCarrier(engine) }
    var sent: Int { bytes.withLock { $0 } }
    var recordLimit: Int { inner.recordLimit }
    func append(_ record: [UInt8], to log: Log, id: UInt64) async throws -> Position {
      bytes.withLock { $0 += record.count }
      return try await inner.append(record, to: log, id: id)
    }
    func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
      try await inner.read(log, after: position, limit: limit)
    }
    func end(of log: Log) async throws -> Position { try await inner.end(of: log) }
    func isComplete(_ log: Log, since position: Position) async throws -> Bool {
      try await inner.isComplete(log, since: position)
    }
    func release(_ log: Log) { inner.release(log) }
    func close() async { await inner.close() }
  }
}

extension Chat {
  fileprivate var people: Int { peopleHere(in: "lobby") }
}
