import MulticastPlatform

func currentThread() -> UInt { UInt(simulation_thread()) }

protocol Plain {
  func hear(_ message: PostProgram.Note)
}

protocol Awaiting: Sendable {
  func hearAwaiting(_ message: PostProgram.Note) async
}

/// Threads, homes and receivers that post. The judge is that of the fuzzer: see Tests/Fuzz/PostHistory.swift.
final class PostProgram: Program, @unchecked Sendable {
  /// A message. It is counted as long as it lives.
  final class Note: Sendable {
    let number: Int
    let key: UInt64
    let depth: Int
    private let program: PostProgram

    init(_ number: Int, key: UInt64, depth: Int, of program: PostProgram) {
      (self.number, self.key, self.depth, self.program) = (number, key, depth, program)
      program.alive += 1
    }
    deinit { program.alive -= 1 }
  }

  enum Place: Hashable, Sendable {
    case home(Int), nowhere, lane

    var name: String { "\(self)" }
  }

  enum List: CaseIterable {
    case first, second, latest, plain, awaiting

    var isTopic: Bool { self != .plain && self != .awaiting }

    var topic: Topic<Note> { Topic("\(self)", keepsLatest: self == .latest) }
  }

  actor Room {
    func run(_ body: @Sendable (isolated Room) -> Void) { body(self) }
  }

  enum Home {
    case queue(DispatchQueue)
    case room(Room)
    case ended
  }

  final class Receiver: Plain, Awaiting, @unchecked Sendable {
    let number: Int
    let list: List
    let place: Place
    let program: PostProgram
    var observation: TopicObservation?
    /// Whether a thread is replacing the handler. Meanwhile, none removes it.
    var isBusy = false
    /// Whether a thread of the program may have held it last.
    var wasHeld = false
    init(_ number: Int, _ list: List, _ place: Place, _ program: PostProgram) {
      (self.number, self.list, self.place, self.program) = (number, list, place, program)
    }
    deinit { if !wasHeld { program.checkEnd(of: number, at: place) } }
    func hear(_ message: Note) { program.handle(message, by: self) }
    func hearAwaiting(_ message: Note) async { await program.handleAwaiting(message, by: self) }
  }

  override static var operations: [String] {
    [
      "post", "post", "post", "home", "home", "home", "wait", "register", "register", "remove",
      "release", "replace", "end home", "recur", "crowd",
    ]
  }

  private var center = MulticastCenter()
  private var homes: [Home] = []
  private var receivers: [Receiver?] = []
  private var alive = 0
  private var waiting = 0
  private var history = PostHistory()
  private let eagerness: Int

  /// What is special in a program.
  private enum Kind {
    case usual

    /// There is one list, and nobody has a home.
    case narrow

    /// Posts to the plain protocol are made on the main actor, the first home, and others notify and await.
    case named

    /// All queues target the first one.
    case targeting

    /// Some wait until all homes have handled what was posted before.
    case settling
  }

  private let kind: Kind

  /// The posts of each chain that a post sets off by recurring, and the refusals that were reported.
  private var recurring: [Int: Int] = [:]
  private var chained: [UInt: Int] = [:]
  private var refusals = 0
  private var recurringCenter = MulticastCenter()
  private let lists: [List]
  private static let keys = (0..<3).map { _ in DispatchSpecificKey<Bool>() }

  required init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    eagerness = [0, 20, 50][Int.random(in: 0..<3, using: &generator)]
    kind = [0: .settling, 2: .narrow, 4: .named, 6: .targeting][seed % 8] ?? .usual
    lists =
      switch kind {
      case .narrow: [[.first, .latest, .plain][Int(seed / 8 % 3)]]
      case .named: [.plain, .awaiting, .first]
      // None keeps its latest: what is set off by its later calls is not waited for.
      case .settling: [.plain, .awaiting, .first, .second]
      default:
        List.allCases.filter { _ in Int.random(in: 0..<3, using: &generator) > 0 } + [.first]
      }
    super.init(seed: seed)
    if kind == .settling { simulation_be_fair() }
    for number in 0..<Int.random(in: 1...3, using: &self.generator) {
      if kind == .targeting, case .queue(let queue)? = homes.first {
        homes.append(.queue(DispatchQueue(label: "home \(number)", target: queue)))
      } else if kind == .targeting {
        homes.append(.queue(seed % 16 == 6 ? .main : DispatchQueue(label: "target")))
      } else if number == 0, kind == .named {
        homes.append(.queue(.main))
      } else if Int.random(in: 0..<3, using: &self.generator) == 0 {
        homes.append(.room(Room()))
      } else if number == 0, Int.random(in: 0..<3, using: &self.generator) == 0 {
        homes.append(.queue(.main))
      } else {
        let isConcurrent = Int.random(in: 0..<3, using: &self.generator) == 0
        homes.append(.queue(DispatchQueue(label: "home \(number)", isConcurrent: isConcurrent)))
      }
      if case .queue(let queue) = homes[number] {
        queue.setSpecific(key: Self.keys[number], value: true)
      }
    }
    for _ in 0..<Int.random(in: 1...4, using: &self.generator) { register(using: &self.generator) }
    recurringCenter = MulticastCenter(onRecursion: { [unowned self] _ in refusals += 1 })
    // Without a home, at two call sites in turns.
    recurringCenter.observe(Topic<UInt>(), owner: self) { me, root in
      me.chained[root / 2, default: 0] += 1
      me.recurringCenter.post(Topic<UInt>(), root ^ 1, line: Int(root % 2), column: 1)
    }
    for label in ["one", "other"] {
      recurringCenter.observe(Topic<Int>(), owner: self, on: DispatchQueue(label: label)) {
        me, root in
        me.recur(root)
      }
    }
  }

  /// Posts at a call site that the post sets off again, in two homes at once.
  private func recur(_ root: Int) {
    simulation_point()
    let count = recurringCenter.post(Topic<Int>(), root, isolation: nil).clients
    if count > 0 { recurring[root, default: 0] += 1 }
  }

  override func perform(_ operation: String, _ random: inout SeededGenerator) {
    switch operation {
    case "post": post(key: random.next())
    case "home": postAtHome(Int.random(in: homes.indices, using: &random), key: random.next())
    case "wait":
      let key = random.next()
      Task.detached { await self.postAndWait(key: key) }
    case "register": register(using: &random)
    case "recur" where kind == .named: Task.detached { await self.notify() }
    case "recur" where kind == .settling:
      for _ in 0..<4 { Task.detached { await self.settle() } }
    case "recur":
      let root = random.next() >> 32
      recurringCenter.post(Topic<UInt>(), UInt(root), line: Int(root + 1) % 2, column: 1)
      recur(Int(root))
    case "crowd": crowd()
    case "end home": if random.next() % 3 == 0 { endHome() } else { post(key: random.next()) }
    default:
      // Who removes a client has learned of its registration.
      let some = synchronized {
        receivers.indices.randomElement(using: &random).flatMap { receivers[$0] == nil ? nil : $0 }
      }
      guard let number = some, receivers[number]?.isBusy == false,
        history.receivers[number].removal == .max
      else { return }
      if operation == "release" { return release(number) }
      guard let receiver = receivers[number] else { return }
      receiver.wasHeld = true
      switch operation {
      case "remove": remove(receiver)
      default:
        if receiver.list.isTopic, receiver.place != .lane {
          receiver.isBusy = true
          observe(as: receiver)
          receiver.isBusy = false
        }
      }
    }
  }

  // MARK: Posting

  private func begin(
    key: UInt64, depth: Int = 0, cause: Int? = nil, home: Int? = nil, waits: Bool = false
  ) -> (Note, List) {
    let list = lists[Int(key >> 8) % lists.count]
    let message = PostHistory.Message(list: list, cause: cause, home: home, waits: waits)
    let number = synchronized { history.begin(message) }
    return (Note(number, key: key, depth: depth, of: self), list)
  }

  /// Each key is a call site of its own, so that no post recurs.
  private func post(
    key: UInt64, depth: Int = 0, cause: Int? = nil, home: Int? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    let (note, list) = begin(key: key, depth: depth, cause: cause, home: home)
    let (line, column) = (Int(key >> 33), note.number)
    let count =
      switch list {
      case .plain where kind == .named:
        center.postOnMain((any Plain).self, line: line, column: column) { $0.hear(note) }.clients
      case .plain:
        center.post((any Plain).self, line: line, column: column) { $0.hear(note) }.clients
      case .awaiting:
        center.post(
          (any Awaiting).self, line: line, column: column,
          awaiting: { await $0.hearAwaiting(note) }
        ).clients
      default: center.post(list.topic, note, line: line, column: column).clients
      }
    synchronized { history.end(message: note.number, count: count) }
  }

  private func postAtHome(_ number: Int, key: UInt64) {
    // Another thread may be calling on a concurrent queue.
    var home: Int? = number
    if case .queue(let queue) = homes[number], queue.isConcurrent { home = nil }
    let body = { @Sendable [self, home] (isolation: isolated (any Actor)?) in
      post(key: key, home: home, isolation: isolation)
      post(key: key &* 31 &+ 7, home: home, isolation: isolation)
    }
    switch homes[number] {
    case .queue(let queue):
      if key % 2 == 0 { queue.sync { body(nil) } } else { queue.async { body(nil) } }
    case .room(let room): Task.detached { await room.run { body($0) } }
    case .ended: break
    }
  }

  private func postAndWait(key: UInt64) async {
    waiting += 1
    let (note, list) = begin(key: key, waits: true)
    let (line, column) = (Int(key >> 33), note.number)
    let count =
      switch list {
      case .plain where kind == .named:
        await center.postOnMain((any Plain).self, line: line, column: column) { $0.hear(note) }
          .delivered()
      case .plain:
        await center.post((any Plain).self, line: line, column: column) { $0.hear(note) }
          .delivered()
      case .awaiting:
        await center.post(
          (any Awaiting).self, line: line, column: column,
          awaiting: { await $0.hearAwaiting(note) }
        ).delivered()
      default: await center.post(list.topic, note, line: line, column: column).delivered()
      }
    synchronized { history.end(message: note.number, count: count) }
    waiting -= 1
  }

  /// The posts that had returned when somebody began to wait for all homes, and the calls until the wait ended.
  private var settled: [(messages: Set<Int>, calls: Int)] = []

  private func settle() async {
    waiting += 1
    let messages = synchronized {
      Set(
        history.messages.indices.filter {
          history.messages[$0].end < .max && !history.messages[$0].isNested
        })
    }
    if await !center.settled() { fault("the center has not settled") }
    settled.append((messages, history.calls.count))
    if history.calls.contains(where: { $0.end == .max && isCaused($0.message, by: messages) }) {
      fault("a call goes on when the center has settled")
    }
    waiting -= 1
  }

  private func isCaused(_ message: Int, by messages: Set<Int>) -> Bool {
    sequence(first: message) { self.history.messages[$0].cause }.contains { messages.contains($0) }
  }

  /// Calls everybody who stays once. Who does the same again in such a call reaches nobody.
  private func notify(isAgain: Bool = false) async {
    let before = awaiting
    var met: [Int] = []
    await center.notify((any Awaiting).self, line: 1, column: 1) { client in
      met.append((client as! Receiver).number)
      await Task.yield()
      if notifyNow() > 0 { fault("a recursion without awaiting met somebody") }
      if !isAgain { await notify(isAgain: true) }
    }
    if isAgain, !met.isEmpty { fault("a recursion met \(met)") }
    if Set(met).count != met.count || !isAgain && !before.intersection(awaiting).isSubset(of: met) {
      fault("receivers \(before) stay, and \(met) were met")
    }
  }

  private func notifyNow() -> Int {
    center.notify((any Awaiting).self, line: 1, column: 1) { _ in }
  }

  /// Who is registered and awaits.
  private var awaiting: Set<Int> {
    synchronized {
      Set(
        history.receivers.indices.filter {
          let receiver = history.receivers[$0]
          return receiver.list == .awaiting && receiver.end < .max && receiver.removal == .max
        })
    }
  }

  // MARK: Receivers

  func handle(_ message: Note, by receiver: Receiver) {
    let call = PostHistory.Call(
      message: message.number, receiver: receiver.number, isAwaited: false)
    let number = history.begin(call)
    if case .home(let home) = receiver.place, case .queue = homes[home],
      DispatchQueue.getSpecific(key: Self.keys[home]) != true
    {
      history.fault(call, "was made elsewhere")
    }
    if case .home(let home) = receiver.place, case .room(let room) = homes[home],
      room.presence() != .here
    {
      history.fault(call, "was made elsewhere")
    }
    checkLatest(message, of: receiver)
    react(to: message, as: receiver)
    history.end(call: number)
  }

  func handleAwaiting(_ message: Note, by receiver: Receiver) async {
    let number = history.begin(
      PostHistory.Call(message: message.number, receiver: receiver.number, isAwaited: true))
    if message.key % 3 == 0 { await Task.yield() }
    react(to: message, as: receiver)
    history.end(call: number)
  }

  private func checkLatest(_ message: Note, of receiver: Receiver) {
    guard receiver.list == .latest else { return }
    guard let latest = center.latest(of: List.latest.topic) else {
      return fault("message \(message.number) was called, and none is kept")
    }
    let kept = history.messages[latest.number]
    // A post inside of a call is kept later.
    if !kept.isNested, kept.end < history.messages[message.number].begin {
      fault("message \(message.number) was called while the older \(latest.number) was the latest")
    }
  }

  private func react(to message: Note, as receiver: Receiver) {
    simulation_point()
    let key = (message.key ^ UInt64(receiver.number)) &* 0x9E37_79B9_7F4A_7C15
    guard message.depth < 3, history.messages.count < 20, Int(key >> 32) % 100 < eagerness else {
      return
    }
    post(key: key, depth: message.depth + 1, cause: message.number, isolation: nil)
  }

  private func register(using random: inout SeededGenerator) {
    let list = lists.randomElement(using: &random)!
    var place = Place.lane
    let choice = [.narrow: 1, .targeting: 5][kind] ?? Int.random(in: 0..<6, using: &random)
    if list == .plain || list != .awaiting && choice > 0 {
      place = choice < 3 ? .nowhere : .home(Int.random(in: homes.indices, using: &random))
    }
    // Who has no home is called where the body runs.
    if kind == .named, list == .plain { place = .home(0) }
    if case .home(let home) = place, case .ended = homes[home] { place = .nowhere }
    let number = history.add(PostHistory.Registration(list: list, place: place))
    let receiver = Receiver(number, list, place, self)
    // Half of those have no home for the library.
    if kind == .named { receiver.wasHeld = true }
    receivers.append(nil)
    observe(as: receiver)
    var given: Receiver? = consume receiver
    // It is not held here when another thread may learn of it.
    synchronized { receivers[number] = given.take() }
  }

  private func observe(as receiver: Receiver) {
    history.beginRegistration(of: receiver.number)
    defer { synchronized { history.endRegistration(of: receiver.number) } }
    let call: @Sendable (Receiver, Note) -> Void = { receiver, note in receiver.hear(note) }
    var home = Home.ended
    if case .home(let number) = receiver.place { home = homes[number] }
    let (topic, list) = (receiver.list.topic, receiver.list)
    switch (list, home) {
    case (.plain, .queue) where kind == .named && receiver.number % 2 == 0:
      center.add(receiver, for: (any Plain).self, isolation: nil)
    case (.plain, .queue(let queue)): center.add(receiver, for: (any Plain).self, on: queue)
    case (.plain, .room(let room)): center.add(receiver, for: (any Plain).self, isolation: room)
    case (.plain, .ended): center.add(receiver, for: (any Plain).self, isolation: nil)
    case (.awaiting, _): center.add(receiver, for: (any Awaiting).self)
    case (_, .queue(let queue)):
      receiver.observation = center.observe(topic, owner: receiver, id: 0, on: queue, call)
    case (_, .room(let room)):
      receiver.observation = center.observe(topic, owner: room, id: receiver.number) {
        [weak receiver] (_: isolated Room, note) in
        if let receiver { call(receiver, note) }
      }
    case _ where receiver.place == .lane:
      receiver.observation = center.observe(topic, owner: receiver, id: 0) { receiver, note in
        await receiver.hearAwaiting(note)
      }
    default: receiver.observation = center.observe(topic, owner: receiver, id: 0, call)
    }
  }

  private func remove(_ receiver: Receiver) {
    history.beginRemoval(of: receiver.number)
    switch receiver.list {
    case .plain:
      if !center.remove(receiver, for: (any Plain).self) { fault("a receiver was not removed") }
    case .awaiting:
      if !center.remove(receiver, for: (any Awaiting).self) { fault("a receiver was not removed") }
    default: receiver.observation?.cancel()
    }
    history.endRemoval(of: receiver.number)
  }

  private func release(_ number: Int) {
    history.beginRemoval(of: number)
    if case .home(let home) = history.receivers[number].place, case .queue(let queue) = homes[home]
    {
      // Nobody but the library holds it, so it ends in this queue, now or later.
      queue.sync { receivers[number] = nil }
    } else {
      receivers[number] = nil
    }
  }

  func checkEnd(of number: Int, at place: Place) {
    if case .home(let home) = place, case .queue = homes[home],
      DispatchQueue.getSpecific(key: Self.keys[home]) != true
    {
      fault("receiver \(number) ended outside of its home")
    }
  }

  /// Lists whose clients come and go in a home, and to which nobody posts, and the number of such handlers.
  private var crowds: [MulticastDelegate<AnyObject>] = []
  private var handlers: [Int] = []

  /// Counts a handler as long as it lives.
  private final class Captured: Sendable {
    let program: PostProgram
    let crowd: Int
    init(_ program: PostProgram, _ crowd: Int) {
      (self.program, self.crowd) = (program, crowd)
      program.handlers[crowd] += 1
    }
    deinit { program.handlers[crowd] -= 1 }
  }

  private func crowd() {
    let delegate = MulticastDelegate<AnyObject>()
    let (number, queue) = (crowds.count, DispatchQueue(label: "crowd"))
    crowds.append(delegate)
    handlers.append(0)
    // All exist at first: one at the address of another one that has ended would take its place.
    var clients = (0..<10).map { _ in Somewhere() }
    while let client = clients.last.map(Unmanaged.passUnretained) {
      client._withUnsafeGuaranteedRef { client in _ = delegate.add(client, on: queue) }
      let captured = Captured(self, number)
      client._withUnsafeGuaranteedRef { client in
        _ = center.observe(Topic<Int>("crowd \(number)"), owner: client, on: queue) { _, _ in
          extendLifetime(captured)
        }
      }
      queue.sync { _ = clients.removeLast() }
    }
  }

  /// Those who ended before the list had to grow have been found in their home.
  private func checkCrowds() {
    for (number, delegate) in crowds.enumerated() {
      if delegate.clientList.boxes.registered == 10 { fault("no client was found dead") }
      if handlers[number] == 10 { fault("no owner was found dead") }
    }
    crowds = []
  }

  /// Gives up an actor, with those who live there.
  private func endHome() {
    guard let home = homes.firstIndex(where: { if case .room = $0 { true } else { false } }) else {
      return
    }
    for receiver in history.receivers.indices where history.receivers[receiver].place == .home(home)
    {
      history.beginRemoval(of: receiver)
    }
    homes[home] = .ended
  }

  // MARK: The end

  override func finish() {
    for (root, count) in recurring where count != 1 + Cause.limit {
      fault("\(root) was posted \(count) times")
    }
    for (root, count) in chained where count != 2 + Cause.limit {
      fault("\(root) was posted \(count) times in turns")
    }
    if refusals != recurring.count + chained.count { fault("\(refusals) refusals") }
    recurringCenter = MulticastCenter()
    if waiting > 0 { return fault("\(waiting) posts wait for ever") }
    checkCrowds()
    for receiver in receivers { receiver?.wasHeld = true }
    // Without a last post, a handler must have had the kept one.
    for list in 0..<lists.count where lists[list] != .latest || seed % 4 != 1 {
      spawn { self.post(key: UInt64(list << 8), depth: 9) }
      simulation_run()
    }
    history.check()
    checkTurns()
    if kind == .targeting { checkTargets() }
    for (messages, calls) in settled {
      for call in history.calls[calls...]
      where isCaused(call.message, by: messages) && history.isUsual(call) {
        fault("message \(call.message) comes after the center has settled")
      }
    }
    for text in history.faults { fault(text) }
    center.removeLatest(of: List.latest.topic)
    if alive > 0 { fault("\(alive) messages are left") }
    weak var old = center
    center = MulticastCenter()
    receivers = []
    homes = []
    if old != nil { fault("the center is left") }
  }

  /// Handlers without a home of a topic that keeps its latest share one. A post comes to them before it returns, unless
  /// another thread is calling there, which hands it on. No post is left to threads that call elsewhere all the time.
  private func checkTurns() {
    let (calls, receivers) = (history.calls.filter { !$0.isAwaited }, history.receivers)
    func isThere(_ call: PostHistory.Call) -> Bool {
      receivers[call.receiver].place == .nowhere && receivers[call.receiver].list == .latest
    }
    for call in calls where isThere(call) {
      let post = history.messages[call.message]
      if post.isNested || call.begin < post.end || !history.isUsual(call) { continue }
      // Between two calls, a thread may have claimed the home for the next one there, or not have left it yet.
      let wasTaken = Dictionary(grouping: calls, by: \.thread).contains { thread, calls in
        if thread == post.thread { return false }
        let elsewhere = calls.filter { !isThere($0) }
        return calls.contains { other in
          guard isThere(other) else { return false }
          let begin = elsewhere.last { $0.end < other.begin }?.end ?? 0
          let end = elsewhere.first { $0.begin > other.end }?.begin ?? .max
          return begin < post.end && end > post.begin
        }
      }
      if !wasTaken { history.fault(call, "comes after its post, and nobody was calling there") }
    }
  }

  /// Who posts on a queue is in the home of its target, too.
  private func checkTargets() {
    for call in history.calls where history.receivers[call.receiver].place == .home(0) {
      let post = history.messages[call.message]
      if post.home != nil, !post.isNested, call.end > post.end, history.isUsual(call) {
        fault("message \(call.message) comes to the target of its home after the post")
      }
    }
  }
}
