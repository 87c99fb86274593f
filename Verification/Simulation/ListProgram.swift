import MulticastPlatform

/// A client, as large as nothing else, so that a new one often has the address of a deallocated one.
final class NamedClient: Sendable {
  let name: Int
  private let filling = (0, 0, 0, 0, 0, 0, 0, 0, 0)
  init(_ name: Int) { self.name = name }
}

/// A companion, which counts how many there are.
final class Note: Sendable {
  unowned let program: ListProgram
  init(_ program: ListProgram) {
    self.program = program
    program.notes += 1
  }
  deinit {
    program.notes -= 1
    program.useList()
  }
}

final class Somewhere: Sendable {}

/// Threads that add, remove, release and walk over the clients of one list.
final class ListProgram: Program, @unchecked Sendable {
  enum Life { case adding, staying, leaving, gone }

  struct Entry {
    var client: NamedClient?
    var home: Int?
    var note: Note?
    var life = Life.adding
    var begin = 0
    var end = Int.max
    var isMoving = false
  }

  override static var operations: [String] {
    [
      "walk", "walk", "walk", "add", "add", "remove", "remove", "release", "release", "home",
      "home",
      "again", "count", "move", "single", "clear",
    ]
  }

  private var list = ClientList(stride: WeakBox.stride(for: AnyObject.self))
  private let homes = [Somewhere(), Somewhere()]
  private var entries: [Entry] = []
  fileprivate(set) var notes = 0
  private var clearing = 0
  private var clears = 0

  /// Whether who walks or counts has learned of those that were added before.
  private let isOrdered: Bool

  required init(seed: UInt64) {
    isOrdered = seed % 3 == 0
    super.init(seed: seed)
    let hasCompanions = Bool.random(using: &generator)
    list = ClientList(stride: WeakBox.stride(for: AnyObject.self), hasCompanions: hasCompanions)
    for _ in 0..<Int.random(in: 0...7, using: &generator) { add(using: &generator) }
    for index in entries.indices where Int.random(in: 0..<4, using: &generator) == 0 {
      if Bool.random(using: &generator) { release(index) } else { remove(index) }
    }
  }

  /// What a companion does when it ends, with no lock held.
  fileprivate func useList() { extendLifetime(list.audience) }

  private var staying: [Int] { entries.indices.filter { entries[$0].life == .staying } }

  /// Those who stay, and do not move. In an ordered program, this thread has learned of them.
  private var known: [Int] {
    let known = { [self] in staying.filter { !entries[$0].isMoving } }
    return isOrdered ? synchronized(known) : known()
  }

  private func home(_ number: Int?) -> (AnyObject & Sendable)? { number.map { homes[$0] } }

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
    case "single": if let one { single(one) }
    default: if random.next() % 4 == 0 { clear() } else { walk() }
    }
  }

  // MARK: Changes

  private func place(_ index: Int, replacing old: Note? = nil) -> Bool {
    defer { if isOrdered { synchronized {} } }
    let entry = entries[index]
    let client = entry.client!
    guard list.hasCompanions else {
      let bits = client as AnyObject
      return withUnsafePointer(to: bits) {
        list.add(client, bits: UnsafeRawPointer($0), at: home(entry.home)) == true
      }
    }
    while true {
      let (placement, leftovers) = list.place(
        entry.note!, of: client, at: home(entry.home), expecting: old.map { [$0] }, replacing: old)
      list.finish(leftovers)
      if case .added = placement { return true }
      if placement != nil { return false }
      list.makeRoom()
    }
  }

  private func add(using random: inout SeededGenerator) {
    let home = Int.random(in: 0..<3, using: &random)
    let index = entries.count
    entries.append(Entry(client: NamedClient(index), home: home < 2 ? home : nil, begin: tick()))
    if clearing > 0 { entries[index].life = .leaving }
    if list.hasCompanions { entries[index].note = Note(self) }
    if !place(index) { fault("client \(index) was refused") }
    entries[index].end = tick()
    if entries[index].life == .adding { entries[index].life = clearing == 0 ? .staying : .leaving }
  }

  private func again(_ index: Int) {
    guard !list.hasCompanions, !entries[index].isMoving, let client = entries[index].client
    else { return }
    entries[index].isMoving = true
    defer { entries[index].isMoving = false }
    let isAdded = place(index)
    if entries[index].life == .staying, isAdded { fault("client \(index) was added twice") }
    // All were removed meanwhile.
    if entries[index].life != .staying, isAdded { _ = list.remove(client) }
  }

  private func remove(_ index: Int) {
    guard let client = entries[index].client, !entries[index].isMoving else { return }
    entries[index].life = .leaving
    let before = clears
    // A client with companions may be registered often, and also one that had its address.
    let isRemoved =
      list.hasCompanions ? list.removeAll(of: client) { _ in true } == 1 : list.remove(client)
    if !isRemoved, clears == before { fault("client \(index) was not registered") }
    entries[index].note = nil
    entries[index].life = .gone
  }

  private func release(_ index: Int) {
    entries[index].life = .leaving
    entries[index].note = nil
    entries[index].client = nil
  }

  private func clear() {
    let leaving = entries.indices.filter { entries[$0].life == .staying }
    // Those that are being added may come before or after.
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
      entries[index].note = nil
    }
  }

  /// Replaces a companion in another home, in one step.
  private func move(_ index: Int, using random: inout SeededGenerator) {
    guard list.hasCompanions, !entries[index].isMoving, entries[index].client != nil else { return }
    let old = entries[index].note!
    entries[index].isMoving = true
    defer { entries[index].isMoving = false }
    let home = Int.random(in: 0..<3, using: &random)
    entries[index].note = Note(self)
    entries[index].home = home < 2 ? home : nil
    // It has a place of its own from now on.
    let isReplaced = place(index, replacing: old)
    entries[index].end = tick()
    if !isReplaced, entries[index].life == .staying { fault("client \(index) had changed") }
    if entries[index].life != .staying { entries[index].note = nil }
  }

  // MARK: Looks

  private func walk(at home: Int? = nil, removing victim: Int? = nil) {
    let must = known.filter { home == nil || entries[$0].home == home }
    let start = tick()
    if isOrdered, list.isEmpty || home != nil && !list.hasMailboxes,
      must.contains(where: {
        entries[$0].life == .staying && !entries[$0].isMoving && entries[$0].end < start
      })
    {
      fault("the list seemed empty")
    }
    let gone = entries.indices.filter { entries[$0].life == .gone && !entries[$0].isMoving }
    var met: [Int] = []
    var isRemovedHere = false
    var walk = home.map { list.beginWalk(at: homes[$0]) } ?? list.beginWalk()
    let (begin, limit) = (tick(), walk.limit)
    walk.forEach { box in
      guard let client = box.load() as? NamedClient else { return .dead }
      simulation_point()
      if list.hasCompanions, box.withCompanion(as: Note.self, { _ in true }) != true {
        fault("client \(client.name) has no companion")
      }
      if box.number >= limit { fault("client \(client.name) has a later number") }
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

  private func single(_ index: Int) {
    guard list.hasCompanions, !entries[index].isMoving, let note = entries[index].note,
      let client = entries[index].client
    else { return }
    guard let registration = list.registration(of: note, owner: client),
      var walk = list.beginWalk(at: registration), let box = walk.next()
    else {
      if entries[index].life == .staying, entries[index].note === note, !entries[index].isMoving {
        fault("client \(index) was not found")
      }
      return
    }
    if box.number != registration.number { fault("client \(index) has another number") }
    simulation_point()
    if let loaded = box.load() as? NamedClient, loaded !== client {
      fault("\(index) is another one")
    }
    extendLifetime(client)
  }

  private func count() {
    let before = known
    let start = tick()
    let audience = list.audience!
    simulation_point()
    let counts = (0..<2).map { home in
      audience.residents.filter { $0.mailbox === homes[home] }.map(\.count)
    }
    let after = before.filter {
      entries[$0].life == .staying && !entries[$0].isMoving && entries[$0].end < start
    }
    if audience.count < after.count { fault("\(audience.count) counted, and \(after) are there") }
    for (home, counts) in counts.enumerated() {
      if counts.count > 1 { fault("home \(home) is there twice") }
      // A post leaves no letter in a home that counts nobody.
      if counts.first ?? 0 == 0, after.contains(where: { entries[$0].home == home }) {
        fault("home \(home) counts nobody")
      }
    }
    if after.contains(where: { entries[$0].home == nil }), !audience.hasHomeless {
      fault("nobody is homeless")
    }
  }

  // MARK: The end

  override func finish() {
    let registered = list.state.withLock { state in
      if !state.retired.isEmpty { fault("\(state.retired.count) generations are retired") }
      if state.successor != nil { fault("a successor is left") }
      if state.current.isWalked { fault("a walk has not ended") }
      if state.current.needsReclaiming { fault("something is to be reclaimed") }
      var boxes = state.current.boxes
      var (registered, vacant) = (0, 0)
      while let box = boxes.next() {
        if box.identity == 0 { vacant += 1 } else { registered += 1 }
        if state.current.hasCompanions, box.identity == 0, box.companion != nil {
          fault("a removed client has its companion")
        }
      }
      if vacant != state.current.vacant {
        fault("\(state.current.vacant) are vacant, not \(vacant)")
      }
      return registered
    }
    if list.needsReclaiming.load(ordering: .relaxed) {
      fault("something is to be reclaimed for ever")
    }
    for index in entries.indices where entries[index].life != .staying {
      entries[index].note = nil
      entries[index].client = nil
    }
    if list.hasCompanions, notes != registered { fault("\(notes) companions of \(registered)") }
    walk()
    for home in 0..<2 { walk(at: home) }
    count()
    let audience = list.audience!
    for home in 0..<2 {
      let here = staying.filter { entries[$0].home == home }
      let count = audience.residents.filter { $0.mailbox === homes[home] }.map(\.count).reduce(0, +)
      if count != here.count { fault("home \(home) has \(here), and counts \(count)") }
    }
    for index in staying {
      let client = entries[index].client!
      if list.hasCompanions ? list.companions(of: client).count != 1 : !list.contains(client) {
        fault("client \(index) is not found")
      }
      remove(index)
    }
    if list.countAlive() > 0 { fault("somebody is left") }
    entries = []
    list = ClientList(stride: WeakBox.stride(for: AnyObject.self))
    if notes > 0 { fault("\(notes) companions are left") }
  }
}
