/// The people of all servers in the rooms of this one.
struct Roster {
  struct Server: Codable, Equatable {
    let name: String
    let address: String
  }

  private struct Node {
    var server: Server
    var members: Set<Member> = []
  }

  private var nodes: [String: Node] = [:]
  /// The servers that presence did not know at the last call.
  private var doubted: Set<String> = []
  /// The number of connections of each name in a room, and the client that owns the name.
  private var rooms: [String: [String: (client: String, count: Int)]]
  /// The names of each room that have come or gone since the last event about them.
  private var changes: [String: Set<String>] = [:]

  init(rooms: Set<String>) { self.rooms = rooms.reduce(into: [:]) { $0[$1] = [:] } }

  var servers: [Server] {
    nodes.values.map(\.server).filter { !$0.address.isEmpty }.sorted { $0.address < $1.address }
  }

  func names(in room: String) -> [String] { (rooms[room] ?? [:]).keys.sorted() }
  func count(in room: String) -> Int { rooms[room]?.count ?? 0 }

  func isTaken(by other: Member) -> Bool {
    rooms[other.room]?[other.name].map { $0.client != other.client } ?? false
  }
  func contains(_ member: Member) -> Bool {
    rooms[member.room]?[member.name]?.client == member.client
  }
  func members(of node: String) -> [Member] { Array(nodes[node]?.members ?? []) }

  mutating func takeChanges(in room: String) -> (came: [String], gone: [String]) {
    let names = (changes.removeValue(forKey: room) ?? []).sorted()
    let here = rooms[room] ?? [:]
    return (names.filter { here[$0] != nil }, names.filter { here[$0] == nil })
  }

  mutating func take(_ presence: Attendance) {
    let server = Server(name: presence.server, address: presence.address)
    nodes[presence.node, default: Node(server: server)].server = server
    if presence.begins {
      for member in members(of: presence.node) { remove(member, from: presence.node) }
    }
    for member in presence.gone { remove(member, from: presence.node) }
    for member in presence.came { add(member, to: presence.node) }
  }

  /// Forgets the servers that presence did not know at the last call and does not know now. Their messages came after
  /// their end.
  mutating func forgetGhosts(_ present: Set<String>) {
    let unknown = Set(nodes.keys).subtracting(present)
    for node in unknown.intersection(doubted) { forget(node) }
    doubted = unknown
  }

  mutating func forget(_ node: String) {
    for member in members(of: node) { remove(member, from: node) }
    nodes[node] = nil
  }

  private mutating func add(_ member: Member, to node: String) {
    // Another server may have other rooms.
    guard member.isSound, let room = rooms[member.room],
      nodes[node]?.members.insert(member).inserted == true
    else { return }
    rooms[member.room]?[member.name] = (member.client, (room[member.name]?.count ?? 0) + 1)
    changes[member.room, default: []].insert(member.name)
  }

  private mutating func remove(_ member: Member, from node: String) {
    guard nodes[node]?.members.remove(member) != nil,
      let place = rooms[member.room]?[member.name]
    else { return }
    rooms[member.room]?[member.name] = place.count > 1 ? (place.client, place.count - 1) : nil
    changes[member.room, default: []].insert(member.name)
  }
}
