import MulticastPlatform

func currentThread() -> UInt { UInt(simulation_thread()) }

protocol Plain {
  func hear(_ message: PostProgram.Note)
}

protocol Awaiting: Sendable {
  func hearAwaiting(_ message: PostProgram.Note) async
}

protocol Echoing: Sendable {
  func echo(_ key: UInt64, home: Int?)
}

/// Threads, homes and receivers that post. `PostHistory` of the fuzzer judges them: see Tests/Fuzz/PostHistory.swift.
final class PostProgram: Program, @unchecked Sendable {
  /// A message, counted until it is deallocated.
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

  enum ReceiverHome: Hashable, Sendable {
    case home(Int), noHome, ownMailbox

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

  /// `@unchecked`, because only the thread that has the baton uses the variables.
  final class Receiver: Plain, Awaiting, @unchecked Sendable {
    let number: Int
    let list: List
    let home: ReceiverHome
    let program: PostProgram
    var observation: TopicObservation?
    /// Whether a thread is replacing the handler. Meanwhile, no other thread removes it.
    var isBusy = false
    /// Whether a thread of the program may have been the last to hold it.
    var wasHeld = false
    /// The messages that had been posted before it was registered, and that tasks wait for.
    var older: Set<Int> = []

    init(_ number: Int, _ list: List, _ home: ReceiverHome, _ program: PostProgram) {
      (self.number, self.list, self.home, self.program) = (number, list, home, program)
    }
    deinit { if !wasHeld { program.checkEnd(of: number, at: home) } }
    func hear(_ message: Note) { program.handle(message, by: self) }
    func hearAwaiting(_ message: Note) async { await program.handleAwaiting(message, by: self) }
  }

  override static var operations: [String] {
    [
      "post", "post", "post", "home", "home", "home", "wait", "register", "register", "remove",
      "release", "replace", "end home", "recur", "crowd", "withdraw", "echo",
    ]
  }

  private var center = MulticastCenter()
  private var homes: [Home] = []
  private var receivers: [Receiver?] = []
  private var alive = 0
  private var waiting = 0
  private var history = PostHistory()
  private let eagerness: Int

  /// What distinguishes a program from the usual one.
  private enum Kind {
    case usual

    /// There is one list, and no receiver has a home.
    case narrow

    /// Posts to the plain protocol are made on the main actor, the first home, and other threads notify and await.
    case named

    /// All queues target the first one.
    case targeting

    /// Some tasks wait until the center has settled.
    case settling

    /// Awaiting handlers wait for posts, and late handlers wait until posts before them have been delivered.
    case waiting
  }

  private let kind: Kind

  /// The posts of each chain that a post sets off by recurring, and the refusals that were reported.
  private var recurring: [Int: Int] = [:]
  private var chained: [UInt: Int] = [:]
  private var refusals = 0
  private var recurringCenter = MulticastCenter()
  private let lists: [List]
  private lazy var echo = Echo(of: self)
  private static let keys = (0..<3).map { _ in DispatchSpecificKey<Bool>() }

  required init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    eagerness = [0, 20, 50][Int.random(in: 0..<3, using: &generator)]
    kind = [0: .settling, 2: .narrow, 4: .named, 5: .waiting, 6: .targeting][seed % 8] ?? .usual
    lists =
      switch kind {
      case .narrow: [[.first, .latest, .plain][Int(seed / 8 % 3)]]
      case .named: [.plain, .awaiting, .first]
      // No list of these keeps its latest message, because a wait does not include the posts that its later calls set off.
      case .settling: [.plain, .awaiting, .first, .second]
      case .waiting: [.first, .second, .latest]
      default:
        List.allCases.filter { _ in Int.random(in: 0..<3, using: &generator) > 0 } + [.first]
      }
    super.init(seed: seed)
    if kind == .settling { simulation_be_fair() }
    center.add(echo, for: (any Echoing).self)
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
    // A thread of these programs is in several homes at once.
    case "recur" where kind == .targeting, "crowd" where kind == .targeting:
      postAtHome(
        Int.random(in: homes.indices, using: &random), key: random.next(), inNotify: true)
    case "recur" where kind == .settling:
      for _ in 0..<4 { Task.detached { await self.settle() } }
    case "recur":
      let root = random.next() >> 32
      recurringCenter.post(Topic<UInt>(), UInt(root), line: Int(root + 1) % 2, column: 1)
      recur(Int(root))
    case "crowd": crowd()
    case "withdraw": removeLatest()
    case "echo":
      postAtHome(
        Int.random(in: homes.indices, using: &random), key: random.next(), inNotify: true)
    case "end home": if random.next() % 3 == 0 { endHome() } else { post(key: random.next()) }
    default:
      // This thread has learned of the registration of the client that it removes.
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
        if receiver.list.isTopic, receiver.home != .ownMailbox {
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
    key: UInt64, depth: Int = 0, cause: Int? = nil, home: Int? = nil, echo: UInt64? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    let (note, list) = begin(key: key, depth: depth, cause: cause, home: home)
    echoOfMessage[note.number] = echo
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

  /// - Parameter inNotify: Whether a client that is notified there posts.
  private func postAtHome(_ number: Int, key: UInt64, inNotify: Bool = false) {
    // Another thread may be calling on a concurrent queue.
    var home: Int? = number
    if case .queue(let queue) = homes[number], queue.isConcurrent { home = nil }
    let body = { @Sendable [self] (home: Int?, isolation: isolated (any Actor)?) in
      if inNotify {
        center.notify((any Echoing).self, line: 3, column: 1) { $0.echo(key, home: home) }
        return
      }
      post(key: key, home: home, isolation: isolation)
      post(key: key &* 31 &+ 7, home: home, isolation: isolation)
    }
    switch homes[number] {
    case .queue(let queue):
      if key % 2 == 0 {
        queue.sync { [home] in body(home, nil) }
      } else {
        queue.async { [home] in body(home, nil) }
      }
    case .room(let room):
      // Half of the actors are in a queue, too, which the actor has entered.
      let other = homes.indices.first {
        if case .queue(let queue) = homes[$0] { !queue.isConcurrent } else { false }
      }
      guard let other, key % 2 == 0, case .queue(let queue) = homes[other] else {
        Task.detached { [home] in await room.run { body(home, $0) } }
        return
      }
      home = key % 4 == 0 ? other : number
      Task.detached { [home] in
        await room.run { room in queue.sync { body(home, room) } }
      }
    case .ended: break
    }
  }

  /// A client that posts when it is notified.
  private final class Echo: Echoing {
    private unowned let program: PostProgram
    init(of program: PostProgram) { self.program = program }
    func echo(_ key: UInt64, home: Int?) { program.echo(key, home: home) }
  }

  /// The key of the notify that each thread is delivering, and that of the one in which a message was posted.
  private var echoes: [UInt: UInt64] = [:]
  private var echoOfMessage: [Int: UInt64] = [:]

  private func echo(_ key: UInt64, home: Int?) {
    echoes[currentThread()] = key
    post(key: key, home: home, echo: key, isolation: nil)
    post(key: key &* 31 &+ 7, home: home, echo: key, isolation: nil)
    echoes[currentThread()] = nil
  }

  /// Notifies inside a call. That is a loop if a notify of the same list at the same call site has led to this call. A letter
  /// of another post, which the thread happens to handle, does not make it one.
  private func notifyAgain(for message: Note, in call: PostHistory.Call) {
    let count = center.notify((any Echoing).self, line: 3, column: 1) { _ in }
    guard let active = echoes[currentThread()] else {
      if count == 0 { fault("a notify was refused inside message \(message.number)") }
      return
    }
    let isLed = sequence(first: message.number) { self.history.messages[$0].cause }
      .contains { echoOfMessage[$0] == active }
    if count == 0, !isLed { fault("a letter of message \(message.number) made a loop") }
    // A handler that begins with the message has a letter of its own. And if this thread has posted since, it may have gone on to
    // what follows the message, while a home was busy. Then the letter is like that of another post.
    let mayHaveGoneOn = history.messages.indices.contains {
      $0 > message.number && self.history.messages[$0].thread == currentThread()
    }
    if count > 0, history.isUsual(call), echoOfMessage[message.number] == active,
      history.messages[message.number].end == .max, !mayHaveGoneOn
    {
      fault("a loop through message \(message.number) has been delivered")
    }
  }

  private func postAndWait(key: UInt64) async {
    waiting += 1
    let (note, list) = begin(key: key, waits: true)
    let (line, column) = (Int(key >> 33), note.number)
    let posted =
      switch list {
      case .plain where kind == .named:
        center.postOnMain((any Plain).self, line: line, column: column) { $0.hear(note) }
      case .plain: center.post((any Plain).self, line: line, column: column) { $0.hear(note) }
      case .awaiting:
        center.post(
          (any Awaiting).self, line: line, column: column,
          awaiting: { await $0.hearAwaiting(note) })
      default: center.post(list.topic, note, line: line, column: column)
      }
    synchronized { delayed[note.number] = [] }
    let count = await posted.delivered()
    let late = synchronized {
      history.end(message: note.number, count: count)
      return delayed.removeValue(forKey: note.number)
    }
    for continuation in late ?? [] { continuation.resume() }
    waiting -= 1
  }

  /// The posts that have returned and that a task still waits for. Each has the calls of late handlers that continue after the
  /// wait.
  private var delayed: [Int: [CheckedContinuation<Void, Never>]] = [:]

  /// A wait does not include handlers that begin with the post later.
  private func waitForDelivery(before receiver: Receiver, of message: Int) async {
    guard kind == .waiting, receiver.older.contains(message) else { return }
    await withCheckedContinuation { continuation in
      let isOver = synchronized {
        if delayed[message] == nil { return true }
        delayed[message]?.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Waits inside the call of an awaiting handler: for a post to the handler itself, which returns immediately in the call and in
  /// its child tasks; for a post to handlers that wait for no others; or in a task that is not part of the call.
  private func waitInCall(key: UInt64, cause: Note, as receiver: Receiver) async {
    let isToOther = receiver.list == .first && key % 4 == 0
    // Late handlers of the latest message wait for other posts.
    let isTask = key % 4 == 1 || receiver.list == .latest
    let topic = isToOther ? List.second.topic : receiver.list.topic
    let message = PostHistory.Message(
      list: isToOther ? .second : receiver.list, cause: cause.number, home: nil,
      waits: isToOther || isTask)
    let number = synchronized { history.begin(message) }
    let note = Note(number, key: key, depth: 9, of: self)
    let posted = center.post(topic, note, isolation: nil, line: Int(key >> 33), column: number)
    let clients = posted.clients
    // A message that no task waits for has ended.
    if !message.waits { synchronized { history.end(message: number, count: clients) } }
    let wait = Wait(posted)
    waiting += 1
    if isTask {
      Task {
        await wait.delivered()
        synchronized { history.end(message: number, count: clients) }
        waiting -= 1
      }
      return
    }
    if key / 4 % 2 == 0 {
      async let end: Void = wait.delivered()
      await end
    } else {
      await wait.delivered()
    }
    if message.waits { synchronized { history.end(message: number, count: clients) } }
    waiting -= 1
  }

  /// A post that a child task waits for. `@unchecked`, because only the thread that has the baton uses the variable.
  private final class Wait: @unchecked Sendable {
    private var posted: Posted?
    init(_ posted: consuming Posted) { self.posted = .some(posted) }
    func delivered() async {
      guard let posted = posted.take() else { return }
      await posted.delivered()
    }
  }

  private func removeLatest() {
    let removal = synchronized { history.begin(PostHistory.Removal()) }
    center.removeLatest(of: List.latest.topic)
    synchronized { history.end(removal: removal) }
  }

  /// The posts that had been entered when a task began to wait until the center has settled, and the calls until the wait ended.
  private var settled: [(messages: Set<Int>, calls: Int)] = []

  private func settle() async {
    waiting += 1
    // A post has been entered if it has returned or called a receiver.
    let messages = synchronized {
      Set(history.messages.indices.filter { history.messages[$0].end < .max })
        .union(history.calls.map(\.message))
    }
    if await !center.settled() { fault("the center has not settled") }
    settled.append((messages, history.calls.count))
    if history.calls.contains(where: { $0.end == .max && isCaused($0.message, by: messages) }) {
      fault("a call goes on when the center has settled")
    }
    waiting -= 1
  }

  /// Asks inside a call, in a child task of it, and in another task that the call starts. The first two would wait for themselves.
  private func settleInCall(key: UInt64) async {
    switch key % 3 {
    case 0: if await center.settled() { fault("the center has settled inside a call") }
    case 1:
      async let isSettled = center.settled()
      if await isSettled { fault("the center has settled in a child task of a call") }
    default: Task { await settle() }
    }
  }

  private func isCaused(_ message: Int, by messages: Set<Int>) -> Bool {
    sequence(first: message) { self.history.messages[$0].cause }.contains { messages.contains($0) }
  }

  /// Calls every client that stays once. A nested notify at the same call site is refused.
  private func notify(isAgain: Bool = false) async {
    let before = awaiting
    var met: [Int] = []
    await center.notify((any Awaiting).self, line: 1, column: 1) { client in
      met.append((client as! Receiver).number)
      await Task.yield()
      if notifyNow() > 0 { fault("a recursion without awaiting called a client") }
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

  /// The receivers that are registered and await.
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

  /// Records a call. A task that asks whether the center has settled must have learned of the calls that it finds in the history.
  /// In other programs, nothing orders the calls, so that more orders are possible.
  private func begin(_ call: PostHistory.Call) -> Int {
    kind == .settling ? synchronized { history.begin(call) } : history.begin(call)
  }

  func handle(_ message: Note, by receiver: Receiver) {
    let call = PostHistory.Call(
      message: message.number, receiver: receiver.number, isAwaited: false)
    let number = begin(call)
    if case .home(let home) = receiver.home, case .queue = homes[home],
      DispatchQueue.getSpecific(key: Self.keys[home]) != true
    {
      history.fault(call, "was made elsewhere")
    }
    if case .home(let home) = receiver.home, case .room(let room) = homes[home],
      room.presence() != .here
    {
      history.fault(call, "was made elsewhere")
    }
    checkLatest(message, of: receiver)
    if message.key % 2 == 0 { notifyAgain(for: message, in: call) }
    react(to: message, as: receiver)
    history.end(call: number)
  }

  func handleAwaiting(_ message: Note, by receiver: Receiver) async {
    let number = begin(
      PostHistory.Call(message: message.number, receiver: receiver.number, isAwaited: true))
    if message.key % 3 == 0 { await Task.yield() }
    await waitForDelivery(before: receiver, of: message.number)
    let key = (message.key ^ UInt64(receiver.number)) &* 0xD6E8_FEB8_6659_FD93
    if kind == .settling, key >> 61 == 0 { await settleInCall(key: key >> 20) }
    if kind == .waiting, key >> 62 == 0, message.depth < 9, history.messages.count < 20 {
      await waitInCall(key: key >> 20, cause: message, as: receiver)
    }
    react(to: message, as: receiver)
    history.end(call: number)
  }

  private func checkLatest(_ message: Note, of receiver: Receiver) {
    guard receiver.list == .latest else { return }
    let latest = center.latest(of: List.latest.topic)
    // A removal that had ended before the message was posted did not concern it.
    let begin = history.messages[message.number].begin
    if history.removals.contains(where: { $0.end > begin }) { return }
    guard let latest else {
      return fault("message \(message.number) was called, and none is stored")
    }
    let kept = history.messages[latest.number]
    // A post made inside a call is stored later.
    if !kept.isNested, kept.end < begin {
      fault("message \(message.number) was called while the older \(latest.number) was the latest")
    }
  }

  private func react(to message: Note, as receiver: Receiver) {
    simulation_point()
    let key = (message.key ^ UInt64(receiver.number)) &* 0x9E37_79B9_7F4A_7C15
    guard message.depth < 3, history.messages.count < 20, Int(key >> 32) % 100 < eagerness else {
      return
    }
    if key % 8 == 0 { removeLatest() }
    post(key: key, depth: message.depth + 1, cause: message.number, isolation: nil)
    if key % 8 == 1 { removeLatest() }
  }

  private func register(using random: inout SeededGenerator) {
    // Before the home is chosen, because another thread may end a home meanwhile.
    let older = synchronized { Set(delayed.keys) }
    let list = lists.randomElement(using: &random)!
    var home = ReceiverHome.ownMailbox
    var choice = [.narrow: 1, .targeting: 5][kind] ?? Int.random(in: 0..<6, using: &random)
    if kind == .waiting, choice > 2 { choice = 0 }
    if list == .plain || list != .awaiting && choice > 0 {
      home = choice < 3 ? .noHome : .home(Int.random(in: homes.indices, using: &random))
    }
    // A client without a home is called where the body runs.
    if kind == .named, list == .plain { home = .home(0) }
    if case .home(let index) = home, case .ended = homes[index] { home = .noHome }
    let number = history.add(PostHistory.Registration(list: list, home: home))
    let receiver = Receiver(number, list, home, self)
    receiver.older = older
    // The library sees no home for half of these receivers.
    if kind == .named { receiver.wasHeld = true }
    receivers.append(nil)
    observe(as: receiver)
    var given: Receiver? = consume receiver
    // Give it away here, so that this thread does not hold it when another thread may learn of it.
    synchronized { receivers[number] = given.take() }
  }

  private func observe(as receiver: Receiver) {
    history.beginRegistration(of: receiver.number)
    defer { synchronized { history.endRegistration(of: receiver.number) } }
    let call: @Sendable (Receiver, Note) -> Void = { receiver, note in receiver.hear(note) }
    var home = Home.ended
    if case .home(let number) = receiver.home { home = homes[number] }
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
    case _ where receiver.home == .ownMailbox:
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
    if case .home(let home) = history.receivers[number].home, case .queue(let queue) = homes[home] {
      // Only the library still holds it, so it is deallocated on this queue, now or later.
      queue.sync { receivers[number] = nil }
    } else {
      receivers[number] = nil
    }
  }

  func checkEnd(of number: Int, at home: ReceiverHome) {
    if case .home(let home) = home, case .queue = homes[home],
      DispatchQueue.getSpecific(key: Self.keys[home]) != true
    {
      fault("receiver \(number) ended outside its home")
    }
  }

  /// Lists whose clients come and go in one home and that receive no posts, and the number of handlers like that.
  private var crowds: [MulticastDelegate<AnyObject>] = []
  private var handlers: [Int] = []

  /// Counts a handler until it is deallocated.
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
    // Create all of them first. Otherwise, a new client could have the address of a deallocated one, and take its position.
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

  /// Clients and owners that were deallocated before the list had to grow have been found in their home.
  private func checkCrowds() {
    for (number, delegate) in crowds.enumerated() {
      if delegate.clientList.boxes.registered == 10 { fault("no deallocated client was found") }
      if handlers[number] == 10 { fault("no deallocated owner was found") }
    }
    crowds = []
  }

  /// Releases an actor. Handlers that it owns end with it. Clients whose home it was are still called.
  private func endHome() {
    guard let home = homes.firstIndex(where: { if case .room = $0 { true } else { false } }) else {
      return
    }
    for receiver in history.receivers.indices
    where history.receivers[receiver].home == .home(home)
      && history.receivers[receiver].list.isTopic
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
    if waiting > 0 { return fault("\(waiting) posts wait forever") }
    checkCrowds()
    history.check(latest: center.latest(of: List.latest.topic)?.number)
    for receiver in receivers { receiver?.wasHeld = true }
    // Unless another post comes last, a handler must have received the stored message.
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

  /// Handlers without a home of a topic that keeps its latest message share one mailbox. A post calls them before it returns,
  /// unless another thread is calling there, which then handles the letter. No letter is left to threads that call elsewhere all the time.
  private func checkTurns() {
    let (calls, receivers) = (history.calls.filter { !$0.isAwaited }, history.receivers)
    func isThere(_ call: PostHistory.Call) -> Bool {
      receivers[call.receiver].home == .noHome && receivers[call.receiver].list == .latest
    }
    /// Whether a call there has set off a post of its thread, which a drain delivers before the next letter, with the claim.
    func follows(_ message: Int) -> Bool {
      guard let outer = history.messages[message].outerCall.map({ history.calls[$0] }) else {
        return false
      }
      return isThere(outer) || follows(outer.message)
    }
    for call in calls where isThere(call) {
      let post = history.messages[call.message]
      if post.isNested || call.begin < post.end || !history.isUsual(call) { continue }
      // Between two calls, a thread may have claimed the mailbox for its next call there, or may not have released it yet.
      let wasTaken = Dictionary(grouping: calls, by: \.thread).contains { thread, calls in
        if thread == post.thread { return false }
        let elsewhere = calls.filter { !isThere($0) && !follows($0.message) }
        return calls.contains { other in
          guard isThere(other) else { return false }
          let begin = elsewhere.last { $0.end < other.begin }?.end ?? 0
          let end = elsewhere.first { $0.begin > other.end }?.begin ?? .max
          return begin < post.end && end > post.begin
        }
      }
      if !wasTaken { history.fault(call, "comes after its post, and no thread was calling there") }
    }
  }

  /// A thread that posts on a queue is in the home of the queue's target, too.
  private func checkTargets() {
    for call in history.calls where history.receivers[call.receiver].home == .home(0) {
      let post = history.messages[call.message]
      if post.home != nil, !post.isNested, call.end > post.end, history.isUsual(call) {
        fault("message \(call.message) comes to the target of its home after the post")
      }
    }
  }
}
