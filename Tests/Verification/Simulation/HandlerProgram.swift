import MulticastPlatform

/// Threads that observe a topic with one owner and one id, cancel, and post. Each handler replaces the one before it. The owner has
/// another handler, which stays, with another id or none.
final class HandlerProgram: Program, @unchecked Sendable {
  private struct Handler {
    let home: Int
    let once: Bool
    var observation: TopicObservation?
    let begin: Int
    var end = Int.max
    var cancelled = Int.max
    var cancelReturned = Int.max
    var cancellingThread: UInt64 = 0
    var isEndedAtHome = false
    var calls: [(message: Int, begin: Int)] = []
  }

  private struct Message {
    let begin: Int
    var end = Int.max
  }

  /// Each handler captures an instance, which counts it.
  private final class Captured: Sendable {
    let program: HandlerProgram
    init(_ program: HandlerProgram) {
      self.program = program
      program.alive += 1
    }
    deinit { program.alive -= 1 }
  }

  /// The id. Its `==` may use the center.
  private struct Name: Hashable, Sendable {
    let number: Int
    static func == (one: Name, other: Name) -> Bool {
      simulation_point()
      return one.number == other.number
    }
  }

  override static var operations: [String] {
    [
      "observe", "observe", "observe", "cancel", "cancel", "post", "post", "post", "remove",
      "active",
    ]
  }

  private let center = MulticastCenter()
  private let keepsLatest: Bool
  private let queues = [DispatchQueue(label: "one"), DispatchQueue(label: "other")]
  private let owner = Somewhere()
  private var handlers: [Handler] = []
  private var messages: [Message] = []
  private var removals: [(begin: Int, end: Int)] = []
  private var alive = 0
  private var heardByOther: [Int] = []
  private var topic: Topic<Int> { Topic("topic", keepsLatest: keepsLatest) }

  required init(seed: UInt64) {
    keepsLatest = seed % 2 == 0
    super.init(seed: seed)
    center.observe(topic, owner: owner, id: seed % 3 == 0 ? nil : Name(number: 2), on: queues[0]) {
      [unowned self] _, message in
      heardByOther.append(message)
    }
    if Bool.random(using: &generator) { observe(using: &generator) }
  }

  override func perform(_ operation: String, _ random: inout SeededGenerator) {
    switch operation {
    case "observe":
      if random.next() % 3 > 0 { return observe(using: &random) }
      let seed = random.next()
      DispatchQueue.main.sync {
        let count = handlers.count
        let isAlone = handlers.allSatisfy { $0.end < .max }
        var random = SeededGenerator(seed: seed)
        observe(using: &random)
        // Older handlers that are called on the main queue have ended by now, unless another thread is replacing one, too.
        guard isAlone, handlers.count == count + 1 else { return }
        for other in 0..<count where handlers[other].home == 4 {
          handlers[other].isEndedAtHome = true
        }
      }
    case "cancel": cancel(using: &random)
    case "post": post()
    case "active":
      guard let handler = handlers.randomElement(using: &random), let token = handler.observation
      else { return }
      if token.isActive, handler.cancelReturned < .max { fault("a cancelled handler is active") }
    default:
      switch random.next() % 4 {
      case 0: remove()
      case 1:
        DispatchQueue.main.sync {
          let ended = synchronized {
            handlers.indices.filter { handlers[$0].home == 4 && handlers[$0].end < .max }
          }
          remove()
          for index in ended { handlers[index].isEndedAtHome = true }
        }
      default: post()
      }
    }
  }

  private func observe(using random: inout SeededGenerator) {
    let home = Int.random(in: 0..<5, using: &random)
    let once = Int.random(in: 0..<3, using: &random) == 0
    let index = handlers.count
    handlers.append(Handler(home: home, once: once, begin: tick()))
    let captured = Captured(self)
    let call: @Sendable (Somewhere, Int) -> Void = { _, message in
      captured.program.hear(message, by: index)
    }
    let id = Name(number: 1)
    let observation =
      switch home {
      case 0: center.observe(topic, owner: owner, id: id, once: once, call)
      case 3:
        center.observe(topic, owner: owner, id: id, once: once) { owner, message in
          call(owner, message)
          await Task.yield()
        }
      case 4:
        center.observe(topic, owner: owner, id: id, once: once) { @MainActor owner, message in
          call(owner, message)
          await Task.yield()
        }
      default: center.observe(topic, owner: owner, id: id, once: once, on: queues[home - 1], call)
      }
    handlers[index].observation = observation
    synchronized { handlers[index].end = tick() }
  }

  private func cancel(using random: inout SeededGenerator) {
    let tokens = handlers.indices.filter { handlers[$0].observation != nil }
    guard let index = tokens.randomElement(using: &random) else { return }
    if handlers[index].cancelled == .max { handlers[index].cancelled = tick() }
    if handlers[index].home == 4 {
      // At that moment, a call may be about to begin there, and another thread about to cancel, too.
      if random.next() % 2 == 0, let token = handlers[index].observation {
        post()
        for _ in 0..<10 { simulation_point() }
        spawn { token.cancel() }
        for _ in 0..<5 { simulation_point() }
      }
      // No call begins after this, because it cancels in the home of the handler.
      DispatchQueue.main.sync {
        handlers[index].observation?.cancel()
        handlers[index].isEndedAtHome = true
      }
    } else {
      handlers[index].observation?.cancel()
    }
    if handlers[index].cancelReturned < .max { return }
    handlers[index].cancelReturned = tick()
    handlers[index].cancellingThread = simulation_thread()
  }

  private func remove() {
    // This thread has learned of the registration of the handlers that it removes.
    let begin = synchronized { tick() }
    removals.append((begin, .max))
    let number = removals.count - 1
    center.removeHandlers(of: topic, owner: owner)
    removals[number].end = tick()
  }

  private func post() {
    let number = synchronized {
      messages.append(Message(begin: tick()))
      return messages.count - 1
    }
    center.post(topic, number)
    messages[number].end = tick()
  }

  private func hear(_ message: Int, by index: Int) {
    let now = tick()
    let handler = handlers[index]
    if handler.isEndedAtHome { fault("handler \(index) was called after its end in its home") }
    if handler.cancelReturned < now, handler.cancellingThread == simulation_thread() {
      fault("handler \(index) was called after its end")
    }
    if handler.calls.contains(where: { $0.message == message }) {
      fault("message \(message) came twice")
    }
    if handler.once, !handler.calls.isEmpty { fault("handler \(index) was called twice") }
    handlers[index].calls.append((message, now))
    if messages[message].end < handler.begin, !keepsLatest, !mayInherit(message, index) {
      fault("handler \(index) was called with message \(message), which was posted before it came")
    }
    simulation_point()
  }

  /// Whether a message that was posted before a handler was registered may have waited for a handler that it replaces.
  private func mayInherit(_ message: Int, _ index: Int, but seen: Set<Int> = []) -> Bool {
    let (heir, seen) = (handlers[index], seen.union([index]))
    return handlers.indices.contains { number in
      let other = handlers[number]
      // The handlers that await have a mailbox of their own, wherever they run.
      guard !seen.contains(number), min(other.home, 3) == min(heir.home, 3), other.home != 0,
        other.begin < heir.end
      else { return false }
      if other.cancelReturned < heir.begin { return false }
      if other.once, other.calls.contains(where: { $0.begin < heir.begin }) { return false }
      if removals.contains(where: { $0.begin > other.end && $0.end < heir.begin }) { return false }
      return messages[message].end > other.begin || mayInherit(message, number, but: seen)
    }
  }

  override func finish() {
    for _ in 0..<2 {
      spawn { self.post() }
      simulation_run()
    }
    for message in messages.indices where !keepsLatest {
      let calls = handlers.map { $0.calls.count { $0.message == message } }.reduce(0, +)
      if calls > 1 { fault("message \(message) was heard \(calls) times") }
    }
    // Unless it has ended, the last handler has received all messages that were posted after it was registered.
    let last = handlers.indices.first { one in
      handlers.indices.allSatisfy { $0 == one || handlers[$0].end < handlers[one].begin }
    }
    if let last, !removals.contains(where: { $0.end > handlers[last].begin }) {
      let handler = handlers[last]
      let all = messages.indices.filter { messages[$0].begin > handler.end }
      let heard = handler.calls.map(\.message)
      if handler.once {
        if handler.cancelled == .max, heard.count != 1 { fault("the last handler heard \(heard)") }
      } else if handler.cancelled == .max {
        if let missed = all.first(where: { !heard.contains($0) }) {
          fault("handler \(last) has missed message \(missed)")
        }
        if keepsLatest, heard.last != center.latest(of: topic) {
          fault("the latest message did not come last")
        }
        let old = heard.filter { messages[$0].end < handler.begin }
        if keepsLatest, handlers.count == 1, old.count > 1 { fault("old messages came: \(old)") }
        if keepsLatest, old.isEmpty, messages.contains(where: { $0.end < handler.begin }) {
          let first = heard.first.map { messages[$0].begin > handler.end } ?? true
          if first { fault("handler \(last) did not begin with the latest message") }
        }
        if heard.last != messages.indices.last { fault("the last message did not come last") }
        if !(handler.observation?.isActive ?? false) { fault("handler \(last) is not active") }
      }
    }
    let active = handlers.count { $0.observation?.isActive ?? false }
    if active > 1 { fault("\(active) handlers are active") }
    if alive != active { fault("\(alive) handlers are alive, and \(active) active") }
    if removals.isEmpty, heardByOther.sorted() != Array(messages.indices) {
      fault("the owner's other handler heard \(heardByOther) of \(messages.count) messages")
    }
    let others = removals.isEmpty ? 1 : 0
    let registered = center.removeHandlers(of: topic, owner: owner)
    if registered != active + others {
      fault("\(registered) handlers are registered, and \(active) active")
    }
    center.removeAll()
    if alive > 0 { fault("\(alive) handlers are left") }
    handlers = []
  }
}
