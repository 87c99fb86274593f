import MulticastPlatform

/// A client of a size that no other object has, so that a new client often has the address of a deallocated one.
final class NamedClient: Sendable {
  let name: Int
  private let filling = (0, 0, 0, 0, 0, 0, 0, 0, 0)
  init(_ name: Int) { self.name = name }
}

/// A box like a handler's: it has its own key, and holds an object until the handler ends.
///
/// `@unchecked`, because only the thread that has the baton uses the variables.
final class NotedBox: WeakBox, @unchecked Sendable {
  private unowned let program: ListProgram
  private let number: UInt
  private var hasEnded = false

  init(_ client: NamedClient, at home: Home?, _ program: ListProgram) {
    self.program = program
    number = UInt(client.name) % 3 + 1
    super.init(client, at: home)
    program.notes += 1
  }

  /// Some boxes share a key.
  override var idHash: UInt { number }

  override func releaseContents() {
    if hasEnded { return }
    hasEnded = true
    program.notes -= 1
    program.useList()
  }
}

final class Somewhere: Sendable {}

extension ClientList {
  /// Adds a client as a delegate does, and leaves no letters for other homes.
  func add(_ box: WeakBox) -> Bool {
    while true {
      let registration = register(box)
      if registration != .full { return registration == .registered }
      _ = makeRoom()
    }
  }
}

extension Mailbox {
  /// Two homes: every thread may load clients of the first one, and no thread of the program may load those of the other one.
  static var two: [Mailbox] {
    [Mailbox(.postingThread), Mailbox(.queue(MarkedQueue(DispatchQueue(label: "elsewhere"))))]
  }
}

/// Threads that add, remove, release and walk over the clients of one list.
final class ListProgram: Program, @unchecked Sendable {
  enum Life { case adding, staying, leaving, gone }

  struct Entry {
    var client: NamedClient?
    var home: Int?
    var box: WeakBox?
    var life = Life.adding
    var begin = 0
    var end = Int.max
    var isMoving = false
  }

  override static var operations: [String] {
    [
      "walk", "walk", "walk", "add", "add", "remove", "remove", "release", "release", "home",
      "home", "again", "count", "move", "find", "clear",
    ]
  }

  private var list = ClientList(.listener(AnyObject.self))
  private let homes = Mailbox.two
  private var entries: [Entry] = []
  fileprivate(set) var notes = 0
  private var clearing = 0
  private var clears = 0

  /// Whether the boxes are like those of handlers.
  private let areNoted: Bool

  /// Whether a thread that walks or counts has learned of the clients that were added before.
  private let isOrdered: Bool

  required init(seed: UInt64) {
    isOrdered = seed % 3 == 0
    areNoted = seed / 3 % 2 == 0
    super.init(seed: seed)
    for _ in 0..<Int.random(in: 0...7, using: &generator) { add(using: &generator) }
    for index in entries.indices where Int.random(in: 0..<4, using: &generator) == 0 {
      if Bool.random(using: &generator) { release(index) } else { remove(index) }
    }
  }

  /// Called when a box ends, with no lock held.
  fileprivate func useList() { extendLifetime(list.roster) }

  private var staying: [Int] { entries.indices.filter { entries[$0].life == .staying } }

  /// The clients that stay and do not move. In an ordered program, this thread has learned of them.
  private var known: [Int] {
    let known = { [self] in staying.filter { !entries[$0].isMoving } }
    return isOrdered ? synchronized(known) : known()
  }

  private func home(_ number: Int?) -> Home? { number.map { homes[$0] } }

  override func perform(_ operation: String, _ random: inout SeededGenerator) {
    let one = staying.randomElement(using: &random)
    switch operation {
    case "walk": walk(removing: random.next() % 3 == 0 ? one : nil)
    case "home": walk(at: Int.random(in: 0..<2, using: &random))
    case "add": add(using: &random)
    case "again": if let one { again(one) }
    case "remove": if let one { remove(one) }
    case "release": if let one { release(one) }
    case "count": count()
    case "move": if let one { move(one, using: &random) }
    case "find": if let one { find(one) }
    default: if random.next() % 4 == 0 { clear() } else { walk() }
    }
  }

  // MARK: Changes

  private func makeBox(_ client: NamedClient, at home: Int?) -> WeakBox {
    if areNoted { return NotedBox(client, at: self.home(home), self) }
    return ClientBox<AnyObject>(client, client, at: self.home(home))
  }

  private func place(_ index: Int, replacing old: WeakBox? = nil) -> Bool {
    defer { if isOrdered { synchronized {} } }
    let box = entries[index].box!
    guard areNoted else { return list.add(box) }
    while true {
      let known = old.map { _ in list.boxes(withID: box.idHash) }
      switch list.register(box, among: known, replacing: old) {
      case .registered:
        if let old { list.finishReplacement(of: old) }
        return true
      case .refused: return false
      case .changed: continue
      case .full: _ = list.makeRoom()
      }
    }
  }

  private func add(using random: inout SeededGenerator) {
    let home = Int.random(in: 0..<3, using: &random)
    let index = entries.count
    let client = NamedClient(index)
    entries.append(Entry(client: client, home: home < 2 ? home : nil, begin: tick()))
    entries[index].box = makeBox(client, at: entries[index].home)
    if clearing > 0 { entries[index].life = .leaving }
    if !place(index) { fault("client \(index) was refused") }
    entries[index].end = tick()
    if entries[index].life == .adding { entries[index].life = clearing == 0 ? .staying : .leaving }
  }

  private func again(_ index: Int) {
    guard !areNoted, !entries[index].isMoving, let client = entries[index].client else { return }
    entries[index].isMoving = true
    defer { entries[index].isMoving = false }
    let isAdded = list.add(makeBox(client, at: entries[index].home))
    if entries[index].life == .staying, isAdded { fault("client \(index) was added twice") }
    // Another thread has removed all clients meanwhile.
    if entries[index].life != .staying, isAdded {
      _ = list.remove(client)
      // A walk may have called it in another position.
      entries[index].end = tick()
    }
  }

  private func remove(_ index: Int) {
    guard let client = entries[index].client, !entries[index].isMoving else { return }
    entries[index].life = .leaving
    let before = clears
    let isRemoved = areNoted ? list.removeAll(of: client) == 1 : list.remove(client)
    if !isRemoved, clears == before { fault("client \(index) was not registered") }
    entries[index].box = nil
    entries[index].life = .gone
  }

  private func release(_ index: Int) {
    entries[index].life = .leaving
    entries[index].box = nil
    entries[index].client = nil
  }

  private func clear() {
    let leaving = entries.indices.filter { entries[$0].life == .staying }
    // Clients that are being added may come before or after.
    for index in entries.indices where entries[index].life == .adding {
      entries[index].life = .leaving
    }
    for index in leaving { entries[index].life = .leaving }
    clearing += 1
    clears += 1
    list.removeAll()
    clearing -= 1
    for index in leaving {
      entries[index].life = .gone
      entries[index].box = nil
    }
  }

  /// Replaces a box with one in another home, in one step.
  private func move(_ index: Int, using random: inout SeededGenerator) {
    guard areNoted, !entries[index].isMoving, let client = entries[index].client,
      let old = entries[index].box
    else { return }
    entries[index].isMoving = true
    defer { entries[index].isMoving = false }
    let home = Int.random(in: 0..<3, using: &random)
    entries[index].home = home < 2 ? home : nil
    entries[index].box = makeBox(client, at: entries[index].home)
    // It has its own position from now on.
    _ = place(index, replacing: old)
    entries[index].end = tick()
    // Another thread has removed all clients meanwhile.
    if entries[index].life != .staying {
      list.removeAll(of: client)
      entries[index].box = nil
    }
  }

  // MARK: Looks

  private func walk(at home: Int? = nil, removing victim: Int? = nil) {
    let must = known.filter { home == nil || entries[$0].home == home }
    let start = tick()
    func mustBeMet() -> Bool {
      must.contains {
        entries[$0].life == .staying && !entries[$0].isMoving && entries[$0].end < start
      }
    }
    if isOrdered, list.isEmpty, mustBeMet() { fault("the list seemed empty") }
    let gone = entries.indices.filter { entries[$0].life == .gone && !entries[$0].isMoving }
    var met: [Int] = []
    var isRemovedHere = false
    let boxes =
      home.map { home in
        list.roster.groups.first { $0.home === homes[home] }?.boxes ?? []
      } ?? list.boxes
    let begin = tick()
    list.forEach(in: boxes) { box in
      guard let client = box.load() as? NamedClient else { return .gone }
      simulation_point()
      if let client = (box as? ClientBox<AnyObject>)?.withClient({ $0 as? NamedClient }),
        client?.name != nil, ObjectIdentifier(client!).address != box.identity, box.isRegistered
      {
        fault("client \(client!.name) has other bits")
      }
      if let home, !entries[client.name].isMoving, entries[client.name].home != home,
        entries[client.name].end < start
      {
        fault("client \(client.name) is not at home here")
      }
      if let victim, !met.isEmpty, client.name == victim, entries[victim].life == .gone,
        isRemovedHere
      {
        fault("client \(victim) was met after its removal in this walk")
      }
      met.append(client.name)
      if let victim, client.name != victim, entries[victim].life == .staying,
        !entries[victim].isMoving
      {
        isRemovedHere = true
        remove(victim)
      }
      return .called
    }
    let isMoved = entries.indices.filter { entries[$0].isMoving || entries[$0].end > start }
    let stable = met.filter { !isMoved.contains($0) }
    if Set(stable).count != stable.count { fault("a walk met \(met)") }
    if let one = gone.first(where: met.contains) { fault("removed client \(one) was met") }
    if let one = met.first(where: { entries[$0].begin > begin }) {
      fault("client \(one) came later")
    }
    for one in must
    where entries[one].life == .staying && !isMoved.contains(one) && !met.contains(one) {
      fault("client \(one) was missed by a walk that met \(met)")
    }
    for (one, other) in zip(stable, stable.dropFirst())
    where entries[other].end < entries[one].begin {
      fault("client \(other) came before \(one)")
    }
  }

  private func find(_ index: Int) {
    guard !entries[index].isMoving, let client = entries[index].client,
      let box = entries[index].box
    else { return }
    let start = tick()
    let isFound =
      areNoted ? list.boxes(withID: box.idHash).contains { $0 === box } : list.contains(client)
    if !isFound, entries[index].life == .staying, entries[index].box === box,
      !entries[index].isMoving, entries[index].end < start
    {
      fault("client \(index) was not found")
    }
  }

  private func count() {
    let before = known
    let start = tick()
    let roster = list.roster
    simulation_point()
    let after = before.filter {
      entries[$0].life == .staying && !entries[$0].isMoving && entries[$0].end < start
    }
    for home in 0..<2 where roster.groups.count(where: { $0.home === homes[home] }) > 1 {
      fault("home \(home) is there twice")
    }
    for one in after {
      let box = entries[one].box
      if !roster.boxes.contains(where: { $0 === box }) { fault("client \(one) is not there") }
      let group =
        entries[one].home.map { home in
          roster.groups.first { $0.home === homes[home] }?.boxes ?? []
        } ?? roster.withoutHome
      if !group.contains(where: { $0 === box }) { fault("client \(one) is not at home") }
    }
  }

  // MARK: The end

  /// Moves one client in a list that has room. Only the moves leave empty boxes, so only they can make the list compact itself.
  private func moveOften() {
    while staying.count < 9 { add(using: &generator) }
    for index in staying.dropFirst(5) { remove(index) }
    for _ in 0..<6 { move(staying[0], using: &generator) }
  }

  override func finish() {
    for index in entries.indices where entries[index].life != .staying {
      entries[index].box = nil
      entries[index].client = nil
    }
    walk()
    for home in 0..<2 { walk(at: home) }
    count()
    if areNoted { moveOften() }
    let all = list.boxes
    if all.count != list.countWithReports.load(ordering: .relaxed) {
      fault("\(all.count) boxes are not counted")
    }
    if all.registered != staying.count { fault("\(all.registered) are registered, not \(staying)") }
    if all.registered * 2 < all.count - 2 { fault("\(all.count) boxes for \(all.registered)") }
    if list.removeDeallocated(in: all) != all.allSatisfy({ $0.home !== homes[1] }) {
      fault("some may not be loaded here")
    }
    if all.registered != staying.count { fault("not \(staying.count) are alive") }
    if areNoted, notes != all.registered { fault("\(notes) have not ended, of \(all.registered)") }
    for index in staying {
      find(index)
      remove(index)
    }
    if list.boxes.registered > 0 || !list.isEmpty { fault("a client is left") }
    entries = []
    list = ClientList(.listener(AnyObject.self))
    if notes > 0 { fault("\(notes) are left") }
  }
}
