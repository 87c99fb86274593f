import Foundation
import Logging
import Metrics
import Multicast
import MulticastCarrier
import ServiceLifecycle

/// Why a request is refused: in a sentence for the person at the browser.
enum Refusal: Error, Equatable {
  case noSuchRoom(String)
  case nameTaken(String)
  case notHere
  case closing
}

/// The rooms of this process, and what is known of those of the others.
actor Chat: Service {
  /// How many messages of a room are kept for those who join late or come back.
  static let history = 200
  /// The clock of the beats, by which the others know that this process lives.
  static let tick = Duration.milliseconds(200)
  static let ticksPerBeat = 10
  static let beatsToForget = 4

  private struct Room {
    /// Of its own, so that a message walks over those who are in the room.
    let center: MulticastCenter
    var history: [(number: Int, event: ServerEvent)] = []
    var last = 0
    var here: Here?
  }

  private struct Here: Encodable, Equatable {
    var names: [String]
    var servers: [Server]
  }

  private struct Server: Codable, Equatable {
    let name: String
    let address: String
  }

  nonisolated let name: String
  nonisolated let center: MulticastCenter
  private let carriage: Carriage
  private let logger: Logger
  private var rooms: [String: Room]
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var address = ""
  private var others: [String: (state: NodeState, beat: Int)] = [:]
  private var ticks = 0
  private var hasChanged = false
  private var isClosing = false
  private var accepted = 0
  private var said: UInt64 = 0

  init(name: String, rooms: [String], center: MulticastCenter, carriage: Carriage, logger: Logger) {
    self.name = name
    self.center = center
    self.carriage = carriage
    self.logger = logger
    self.rooms = Dictionary(
      uniqueKeysWithValues: Set(rooms).map { room in
        (room, Room(center: MulticastCenter(onDelivery: measure)))
      })
    carriage.carry(.said, as: "said")
    carriage.carry(.topicChange, as: "topic")
    carriage.carry(.node, as: "node")
    // All at home in this actor: the messages of one process reach its rooms in their order.
    center.observe(.said, owner: self) { (chat: isolated Chat, said) in chat.heard(said) }
    center.observe(.topicChange, owner: self) { (chat: isolated Chat, topic) in chat.heard(topic) }
    center.observe(.node, owner: self) { (chat: isolated Chat, state) in chat.heard(state) }
    center.observe(.carriage, owner: self) { (chat: isolated Chat, report) in chat.heard(report) }
  }

  // MARK: What browsers ask for

  /// Lets a browser listen to a room.
  ///
  /// - Parameter last: The id of the last event that it had, if it comes back.
  func join(_ member: Member, after last: String?) throws(Refusal) -> Connection {
    guard !isClosing else { throw .closing }
    guard let room = rooms[member.room] else { throw .noSuchRoom(member.room) }
    if members().contains(where: { $0.name == member.name && $0.client != member.client }) {
      throw .nameTaken(member.name)
    }
    var events = [ServerEvent("hello", Server(name: name, address: address))]
    // An id of another process has another count: the browser gets all, and leaves out what it has.
    let parts = last?.split(separator: ".") ?? []
    let number = parts.count == 2 && parts[0] == carriage.node ? Int(parts[1]) ?? 0 : 0
    let oldest = room.history.first?.number ?? room.last + 1
    if number > 0 && number < oldest - 1 {
      events.append(ServerEvent("missed", oldest - 1 - number))
    }
    // The next tick tells everybody who has come.
    if let here = room.here { events.append(ServerEvent("here", here)) }
    events += room.history.filter { $0.number > number }.map(\.event)
    let connection = Connection(member, first: events)
    connections[ObjectIdentifier(connection)] = connection
    room.center.add(connection, for: (any RoomListener).self)
    room.center.observe(.current, owner: connection) { (me: isolated Connection, topic) in
      me.topicChanged(topic)
    }
    hasChanged = true
    return connection
  }

  func leave(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
    hasChanged = true
  }

  /// Returns when all rooms of this process had the message.
  func say(_ text: String, as member: Member) async throws {
    try check(member)
    said += 1
    let message = Said(
      id: "\(carriage.node)-\(said)", room: member.room, name: member.name, text: text, time: now())
    try await accept { try await carriage.postAndWait(.said, message, as: "said") }
  }

  func change(topic text: String, as member: Member) async throws {
    try check(member)
    let topic = RoomTopic(room: member.room, text: text, name: member.name, time: now())
    try await accept { try await carriage.postAndWait(.topicChange, topic, as: "topic") }
  }

  private func accept(_ post: () async throws -> Void) async throws {
    accepted += 1
    defer { accepted -= 1 }
    try await post()
  }

  private func check(_ member: Member) throws(Refusal) {
    guard !isClosing else { throw .closing }
    guard rooms[member.room] != nil else { throw .noSuchRoom(member.room) }
    guard members().contains(member) else { throw .notHere }
  }

  func roomNames() -> [String] { rooms.keys.sorted() }

  /// Who listens to what.
  func wiring() -> String {
    ([("process \(name)", center)]
      + rooms.sorted { $0.key < $1.key }.map { ("room \($0)", $1.center) })
      .map { "# \($0)\n\n\($1.wiring)\n" }.joined(separator: "\n")
  }

  // MARK: What is posted

  private func heard(_ message: Said) {
    guard rooms[message.room] != nil else { return }
    rooms[message.room]?.last += 1
    let number = rooms[message.room]?.last ?? 0
    let event = ServerEvent("said", id: "\(carriage.node).\(number)", message)
    rooms[message.room]?.history.append((number, event))
    if number > Chat.history { rooms[message.room]?.history.removeFirst() }
    rooms[message.room]?.center.post((any RoomListener).self) { await $0.said(event) }
  }

  private func heard(_ topic: RoomTopic) {
    guard let room = rooms[topic.room], topic.replaces(room.center.latest(of: .current)) else {
      return
    }
    room.center.post(.current, topic)
  }

  private func heard(_ state: NodeState) {
    guard state.node != carriage.node else { return }
    others[state.node] = state.leaves ? nil : (state, ticks)
    for topic in state.topics { heard(topic) }
  }

  private func heard(_ report: CarriageReport) {
    switch report {
    case .connected:
      logger.info("Connected with the other processes.")
      notice("Connected with the other servers.")
    case .disconnected(let reason):
      logger.warning("Not connected with the other processes.", metadata: ["reason": "\(reason)"])
      notice("This server is on its own: messages of the others do not arrive.")
    case .joined: hasChanged = true
    case .gapPossible(let place, let missing):
      logger.warning(
        "Messages are missing.",
        metadata: ["node": "\(place.node)", "after": "\(place.sequence)", "missing": "\(missing)"])
      Counter(label: "chat.gaps").increment()
      notice("Some messages of the other servers are missing.")
    case .skipped(let reason):
      logger.warning("A message was skipped.", metadata: ["reason": "\(reason)"])
      Counter(label: "chat.skipped").increment()
    case .kept(let type, let error):
      logger.error("A message stays here.", metadata: ["type": "\(type)", "reason": "\(error)"])
      Counter(label: "chat.kept").increment()
    case .dropped(let count, let direction):
      logger.warning(
        "Messages were dropped.", metadata: ["count": "\(count)", "way": "\(direction)"])
      Counter(label: "chat.dropped", dimensions: [("way", direction.rawValue)]).increment(by: count)
    }
  }

  private func notice(_ text: String) {
    let event = ServerEvent("notice", text)
    for room in rooms.values { room.center.post((any RoomListener).self) { await $0.told(event) } }
  }

  // MARK: Life

  func listens(at address: String) {
    self.address = address
    hasChanged = true
  }

  nonisolated func run() async throws {
    try? await cancelWhenGracefulShutdown {
      while true {
        try await Task.sleep(for: Chat.tick)
        await self.beat()
      }
    }
    await close()
  }

  private func beat() {
    ticks += 1
    let limit = Chat.ticksPerBeat * Chat.beatsToForget
    others = others.filter { ticks - $0.value.beat < limit }
    if hasChanged || ticks % Chat.ticksPerBeat == 0 { center.post(.node, state()) }
    hasChanged = false
    let all = members()
    let servers =
      ([Server(name: name, address: address)]
      + others.values.map { Server(name: $0.state.name, address: $0.state.address) })
      .sorted { $0.address < $1.address }
    for (name, room) in rooms {
      let here = Here(
        names: Set(all.filter { $0.room == name }.map(\.name)).sorted(), servers: servers)
      guard here != room.here else { continue }
      rooms[name]?.here = here
      let event = ServerEvent("here", here)
      room.center.post((any RoomListener).self) { await $0.told(event) }
    }
  }

  /// Ends the streams after the messages of all requests that were accepted.
  private func close() async {
    isClosing = true
    while accepted > 0 { try? await Task.sleep(for: .milliseconds(5)) }
    for room in rooms.values {
      await room.center.postAndWait((any RoomListener).self) { await $0.roomCloses() }
    }
    center.post(.node, state())
  }

  private func state() -> NodeState {
    NodeState(
      node: carriage.node, name: name, address: address,
      members: isClosing ? [] : connections.values.map(\.member),
      topics: rooms.values.compactMap { $0.center.latest(of: .current) }, leaves: isClosing)
  }

  private func members() -> [Member] {
    connections.values.map(\.member) + others.values.flatMap(\.state.members)
  }
}
