import Foundation
import Logging
import Multicast
import MulticastCarrier
import ServiceLifecycle

/// Why a request is refused, as a sentence for the person at the browser.
enum Refusal: Error, Equatable {
  case noSuchRoom(String)
  case nameTaken(String)
  case full
  case notHere
  case closing
}

/// The rooms of this process, and what this process knows of the rooms of the others.
actor Chat: Service {
  /// The number of messages that a room keeps for people who join late or come back.
  static let history = 500
  /// Up to this number of people, each browser receives the names; beyond it, only the number.
  static let shownNames = 100
  static let tick = Duration.milliseconds(200)
  static let ticksPerBeat = 25
  static let ticksPerRoll = 300
  /// A page may end its stream for a moment, and still send.
  static let ticksToLeave = 25

  private struct Room {
    /// A center for each room, so that a message is delivered only to the people in the room.
    let center: MulticastCenter
    var history: [(id: String, event: ServerEvent)] = []
    var ids: Set<String> = []
    var toldCount = 0
  }

  /// The people in a room. If there are too many, their names are left out.
  struct Here: Codable, Equatable {
    var count: Int
    var names: [String]?
    var came: [String]?
    var gone: [String]?
  }

  nonisolated let name: String
  nonisolated let center: MulticastCenter
  nonisolated let carriage: Carriage
  nonisolated let presence: Presence
  private let streamLimit: Int
  private var rooms: [String: Room]
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var address = ""
  private var roster: Roster
  private var servers: [Roster.Server] = []
  private var came: Set<Member> = []
  private var gone: Set<Member> = []
  private var leaving: [Member: Int] = [:]
  private var isAlone = false
  private var ticks = 0
  private var isClosing = false
  private var accepted = 0
  private var node: String { presence.own.id }

  init(
    name: String, rooms: [String], center: MulticastCenter, carriage: Carriage, presence: Presence,
    streamLimit: Int = 2_000
  ) {
    self.name = name
    self.streamLimit = streamLimit
    self.presence = presence
    self.center = center
    self.carriage = carriage
    roster = Roster(rooms: Set(rooms))
    self.rooms = Dictionary(
      uniqueKeysWithValues: Set(rooms).map { room in
        (room, Room(center: MulticastCenter(onDelivery: measure)))
      })
    carriage.carry(.said, as: "said")
    carriage.carry(.attendance, as: "attendance")
    for room in Set(rooms) { carriage.carry(.of(room: room), as: "room.\(room).topic") }
    // All handlers have this actor as their home, so the messages of one process reach its rooms in order.
    center.observe(.said, owner: self) { (chat: isolated Chat, said) in chat.heard(said) }
    center.observe(.attendance, owner: self) { (chat: isolated Chat, attendance) in
      chat.roster.take(attendance)
    }
    center.observe(.presence, owner: self) { (chat: isolated Chat, report) in chat.heard(report) }
    center.observe(.carriage, owner: self) { (chat: isolated Chat, report) in chat.heard(report) }
    center.observe(.carriageState, owner: self) { (chat: isolated Chat, state) in
      chat.heard(state)
    }
  }

  // MARK: What browsers ask for

  /// Lets a browser listen to a room.
  ///
  /// - Parameter last: The id of the last message that a returning browser has received, from this process or another
  ///   one.
  func join(_ member: Member, after last: String?) throws(Refusal) -> Connection {
    guard !isClosing else { throw .closing }
    guard let room = rooms[member.room] else { throw .noSuchRoom(member.room) }
    guard !roster.isTaken(by: member) else { throw .nameTaken(member.name) }
    // This limit of streams leaves room for other requests, such as the one for the server's health.
    guard connections.count < streamLimit else { throw .full }
    var events = [
      ServerEvent("hello", Roster.Server(name: name, address: address)),
      ServerEvent("alone", isAlone), ServerEvent("servers", servers),
    ]
    // Two processes may have received the messages of others in different orders. A browser that comes from another
    // process therefore receives all messages, and skips the ones that it has.
    let known = last.map { room.ids.contains($0) } ?? true
    if !known && !room.history.isEmpty { events.append(ServerEvent("missed", -1)) }
    events += room.history.map(\.event)
    came.insert(member)
    gone.remove(member)
    roster.take(attendance(came: [member]))
    let count = roster.count(in: member.room)
    events.append(
      ServerEvent(
        "here",
        Here(count: count, names: count <= Chat.shownNames ? roster.names(in: member.room) : nil)))
    let connection = Connection(member, first: events)
    connections[ObjectIdentifier(connection)] = connection
    room.center.observe(.event, owner: connection) { (me: isolated Connection, event) in
      me.add(event)
    }
    center.observe(.of(room: member.room), owner: connection) {
      (me: isolated Connection, topic) in
      if topic.isSound(in: member.room) { me.add(ServerEvent("topic", topic)) }
    }
    return connection
  }

  func leave(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
    leaving[connection.member] = ticks + Chat.ticksToLeave
  }

  /// Removes people from the roster who have left and not come back.
  private func forgetWhoHasLeft() {
    guard !leaving.isEmpty else { return }
    let due = leaving.filter { $0.value <= ticks }.keys
    guard !due.isEmpty else { return }
    let here = Set(connections.values.map(\.member))
    for member in due {
      leaving[member] = nil
      guard !here.contains(member) else { continue }
      gone.insert(member)
      came.remove(member)
      roster.take(attendance(gone: [member]))
    }
  }

  /// Returns when all rooms of this process have received the message. A message with a known id is not posted again.
  func say(_ text: String, id: String, as member: Member) async throws {
    try check(member)
    guard rooms[member.room]?.ids.contains(id) == false else { return }
    let message = Said(id: id, room: member.room, name: member.name, text: text, time: now())
    try await accept { try await carriage.post(.said, message) }
  }

  func change(topic text: String, as member: Member) async throws {
    try check(member)
    let topic = RoomTopic(room: member.room, text: text, name: member.name)
    try await accept { try await carriage.post(.of(room: member.room), topic) }
  }

  private func accept(_ post: () async throws -> Void) async throws {
    accepted += 1
    defer { accepted -= 1 }
    try await post()
  }

  private func check(_ member: Member) throws(Refusal) {
    guard !isClosing else { throw .closing }
    guard rooms[member.room] != nil else { throw .noSuchRoom(member.room) }
    guard roster.contains(member) else { throw .notHere }
  }

  /// Returns the number of people in a room, at all servers.
  func peopleHere(in room: String) -> Int { roster.count(in: room) }

  func roomNames() -> [String] { rooms.keys.sorted() }

  /// Returns a list of the listeners of each topic.
  func wiring() -> String {
    ([("process \(name)", center)]
      + rooms.sorted { $0.key < $1.key }.map { ("room \($0)", $1.center) })
      .map { "# \($0)\n\n\($1.wiring)\n" }.joined(separator: "\n")
  }

  // MARK: What is posted

  private func heard(_ message: Said) {
    guard message.isSound, rooms[message.room]?.ids.insert(message.id).inserted == true else {
      return
    }
    let event = ServerEvent("said", id: message.id, message)
    rooms[message.room]?.history.append((message.id, event))
    if let room = rooms[message.room], room.history.count > Chat.history {
      let first = rooms[message.room]?.history.removeFirst()
      if let first { rooms[message.room]?.ids.remove(first.id) }
    }
    rooms[message.room]?.center.post(.event, event)
  }

  private func heard(_ state: CarriageState) {
    tell(isAlone: state.connection != .connected)
  }

  private func tell(isAlone: Bool) {
    guard isAlone != self.isAlone else { return }
    self.isAlone = isAlone
    tell(ServerEvent("alone", isAlone))
  }

  private func heard(_ report: CarriageReport) {
    switch report {
    case .gap, .beganAnew: notice("Some messages of the other servers may be missing for good.")
    default: break
    }
  }

  private func heard(_ report: PresenceReport) {
    switch report {
    case .joined: tellRoll()
    case .left(let server): roster.forget(server.id)
    @unknown default: break
    }
  }

  private func notice(_ text: String) { tell(ServerEvent("notice", text)) }

  private func tell(_ event: ServerEvent) {
    for room in rooms.values { room.center.post(.event, event) }
  }

  // MARK: Life

  func listens(at address: String) {
    self.address = address
    tellRoll()
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

  func beat() {
    ticks += 1
    forgetWhoHasLeft()
    // Less often than presence is updated, so that this server knows a server that has just joined.
    if ticks % Chat.ticksPerBeat == 0, presence.problem == nil {
      roster.forgetGhosts(Set(presence.members.map(\.id) + [node]))
    }
    if ticks % Chat.ticksPerRoll == 0 {
      tellRoll()
    } else if !came.isEmpty || !gone.isEmpty {
      center.post(.attendance, attendance(came: Array(came), gone: Array(gone)))
      (came, gone) = ([], [])
    }
    if roster.servers != servers {
      servers = roster.servers
      tell(ServerEvent("servers", servers))
    }
    for name in rooms.keys { tellPeople(of: name) }
    if ticks % Chat.ticksPerBeat == 0 { tell(ServerEvent("beat", ticks)) }
  }

  private func tellPeople(of room: String) {
    let count = roster.count(in: room)
    let before = rooms[room]?.toldCount ?? 0
    // If there are many people, their number is sent once a second.
    if count > Chat.shownNames && ticks % 5 != 0 { return }
    let (came, gone) = roster.takeChanges(in: room)
    guard !came.isEmpty || !gone.isEmpty else { return }
    rooms[room]?.toldCount = count
    var here = Here(count: count)
    if count <= Chat.shownNames {
      if before > Chat.shownNames {
        here.names = roster.names(in: room)
      } else {
        (here.came, here.gone) = (came, gone)
      }
    }
    rooms[room]?.center.post(.event, ServerEvent("here", here))
  }

  private func attendance(came: [Member] = [], gone: [Member] = []) -> Attendance {
    Attendance(node: node, server: name, address: address, came: came, gone: gone)
  }

  /// Sends the people of this server to the other servers, a few hundred at a time, for servers that do not know them
  /// yet.
  private func tellRoll() {
    (came, gone) = ([], [])
    var members = roster.members(of: node)[...]
    var begins = true
    repeat {
      var attendance = attendance(came: Array(members.prefix(500)))
      attendance.begins = begins
      center.post(.attendance, attendance)
      members = members.dropFirst(500)
      begins = false
    } while !members.isEmpty
  }

  /// Ends the streams after the messages of all requests that were accepted.
  private func close() async {
    isClosing = true
    while accepted > 0 { try? await Task.sleep(for: .milliseconds(5)) }
    var event = ServerEvent("closing", "This server ends.")
    event.ends = true
    for room in rooms.values { await room.center.post(.event, event).delivered() }
    var attendance = attendance()
    attendance.begins = true
    center.post(.attendance, attendance)
  }
}
