import CoreModel
import Foundation
import Multicast
import Synchronization

/// Several threads that observe, replace, remove and post to topics that come and go, in rounds.
///
/// Each message has the number of its poster and a running number, so that who observes all the time can
/// tell whether one is lost, comes twice or overtakes another one. After each round, every message and every
/// handler must end.
final class TopicStress: Sendable {
  private static let topics = 4
  private static let posters = 2

  /// No more handlers than this are alive at once, whatever goes on. Those that are registered are about 20.
  private static let largestCountOfHandlers = 2000

  private let seed: UInt64
  private let center = MulticastCenter()
  private let queues = (0..<2).map { DispatchQueue(label: "stress \($0)") }
  private let found = Locked<[String]>([])
  private let counters = Counters()

  /// Grows with each round, so that names come and go.
  private let firstName = Atomic<Int>(0)

  /// Whether handlers are replaced in other homes.
  private let moves: Bool

  init(seed: UInt64, moves: Bool) {
    self.seed = seed
    self.moves = moves
  }

  var faults: [String] { found.withLock { $0 } }

  var summary: String {
    let rounds = counters.rounds.load(ordering: .relaxed)
    let messages = counters.allMessages.load(ordering: .relaxed)
    let handlers = counters.allHandlers.load(ordering: .relaxed)
    return "\(rounds) rounds of \(messages) messages and \(handlers) handlers: nothing wrong"
  }

  /// Goes on until the time is over, or until something is wrong.
  func run(for duration: Duration) {
    let end = ContinuousClock.now + duration
    var generator = SeededGenerator(seed: seed)
    while ContinuousClock.now < end, faults.isEmpty {
      runRound(seed: generator.next())
      counters.rounds.add(1, ordering: .relaxed)
      firstName.add(1, ordering: .relaxed)
    }
  }

  private func fault(_ text: String) {
    found.withLock { found in
      if found.count < 20 { found.append(text) }
    }
  }

  private func topic(_ number: Int) -> Topic<StressMessage> {
    Topic("\(firstName.load(ordering: .relaxed) + number)")
  }
}

/// What is alive, and what there was.
private final class Counters: Sendable {
  let rounds = Atomic<Int>(0)
  let messages = Atomic<Int>(0)
  let handlers = Atomic<Int>(0)
  let allMessages = Atomic<Int>(0)
  let allHandlers = Atomic<Int>(0)
}

/// A message. It is counted as long as it lives.
private final class StressMessage: Sendable {
  let poster: Int
  let number: Int
  private let counters: Counters

  init(_ number: Int, from poster: Int, _ counters: Counters) {
    self.poster = poster
    self.number = number
    self.counters = counters
    counters.messages.add(1, ordering: .relaxed)
    counters.allMessages.add(1, ordering: .relaxed)
  }

  deinit { counters.messages.subtract(1, ordering: .releasing) }
}

/// Is captured by one handler, and counted as long as that lives.
private final class HandlerSentinel: Sendable {
  private let counters: Counters

  init(_ counters: Counters) {
    self.counters = counters
    counters.handlers.add(1, ordering: .relaxed)
    counters.allHandlers.add(1, ordering: .relaxed)
  }

  deinit { counters.handlers.subtract(1, ordering: .releasing) }
}

/// Owns handlers, and knows the last message of each poster.
private final class StressOwner: Sendable {
  let name: String
  private let last: Locked<[Int]>

  init(_ name: String, posters: Int) {
    self.name = name
    last = Locked(Array(repeating: 0, count: posters))
  }

  /// Takes a message. Returns what was wrong, if all were to come.
  func take(_ message: StressMessage) -> String? {
    last.withLock { last in
      let before = last[message.poster]
      last[message.poster] = max(before, message.number)
      if message.number == before + 1 { return nil }
      return message.number > before
        ? "\(name) has missed \(message.number - before - 1) of poster \(message.poster)'s messages"
        : "\(name) had a message again or late: \(message.number) after \(before)"
    }
  }

  var taken: [Int] { last.withLock { $0 } }
}

/// A flag that one thread sets when a removal has returned there.
private final class Removal: Sendable {
  private let thread = Atomic<Int>(0)

  func note() { thread.store(Self.thread, ordering: .releasing) }

  /// Whether the current thread has removed the handler before.
  var isOver: Bool { thread.load(ordering: .acquiring) == Self.thread }

  private static var thread: Int { Thread.current.hash }
}

// MARK: - A round

extension TopicStress {
  private func runRound(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // Of each topic: its posters count their messages apart.
    var owners: [[StressOwner]] = []
    for number in 0..<Self.topics {
      owners.append(observeAllTheTime(topic(number), number))
    }
    let posted = Locked(
      Array(repeating: Array(repeating: 0, count: Self.posters), count: Self.topics))
    let group = DispatchGroup()
    for poster in 0..<Self.posters {
      let seed = generator.next()
      onThread(in: group) { [self] in
        let counts = post(as: poster, seed: seed)
        posted.withLock { posted in
          for (topic, count) in counts.enumerated() { posted[topic][poster] = count }
        }
      }
    }
    let others = DispatchGroup()
    let seeds = (0..<4).map { _ in generator.next() }
    let moving = owners.map { $0[3] }
    let replaced = owners.map { $0[2] }
    let steady = OverFlag()
    onThread(in: others) { [self] in
      var generator = SeededGenerator(seed: seeds[0])
      while !steady.isOver { replace(replaced, using: &generator) }
    }
    onThread(in: others) { [self] in
      var generator = SeededGenerator(seed: seeds[1])
      while !steady.isOver { comeAndGo(using: &generator) }
    }
    onThread(in: others) { [self] in
      var generator = SeededGenerator(seed: seeds[2])
      while !steady.isOver { useShortTopics(using: &generator) }
    }
    if moves {
      onThread(in: others) { [self] in
        var generator = SeededGenerator(seed: seeds[3])
        while !steady.isOver { move(moving, using: &generator) }
      }
    }
    group.wait()
    steady.end()
    others.wait()
    waitForMessages()
    let counts = posted.withLock { $0 }
    for (topic, owners) in owners.enumerated() {
      for owner in owners where owner.taken != counts[topic] && faults.isEmpty {
        fault("\(owner.name) has taken \(owner.taken) messages of \(counts[topic])")
      }
    }
    owners = []
    for number in 0..<Self.topics { center.removeObservers(of: topic(number)) }
    waitForHandlers()
  }

  /// Registers those who must have every message: without a home, on a queue, and two that are replaced.
  private func observeAllTheTime(
    _ topic: Topic<StressMessage>, _ number: Int
  ) -> [StressOwner] {
    let names = ["without a home", "on a queue", "replaced", "moving"]
    let owners = names.map { StressOwner("topic \(number)'s \($0)", posters: Self.posters) }
    observe(topic, owners[0], on: nil)
    observe(topic, owners[1], on: queues[0])
    observe(topic, owners[2], on: number.isMultiple(of: 2) ? nil : queues[1])
    observe(topic, owners[3], on: nil)
    return owners
  }

  /// Observes, or replaces the handler.
  private func observe(
    _ topic: Topic<StressMessage>, _ owner: StressOwner, on queue: DispatchQueue?,
    isOrdered: Bool = true
  ) {
    let sentinel = HandlerSentinel(counters)
    let call: @Sendable (StressOwner, StressMessage) -> Void = { [unowned self] owner, message in
      if let text = owner.take(message), isOrdered { fault(text) }
      extendLifetime(sentinel)
    }
    if let queue {
      center.observe(topic, owner: owner, id: 0, on: queue, call)
    } else {
      center.observe(topic, owner: owner, id: 0, call)
    }
  }

  /// Posts to all topics in a random order. Returns how many to each.
  private func post(as poster: Int, seed: UInt64) -> [Int] {
    var generator = SeededGenerator(seed: seed)
    var counts = Array(repeating: 0, count: Self.topics)
    for _ in 0..<Int.random(in: 50...400, using: &generator) {
      let number = Int.random(in: counts.indices, using: &generator)
      counts[number] += 1
      center.post(topic(number), StressMessage(counts[number], from: poster, counters))
      if Int.random(in: 0..<50, using: &generator) == 0 { usleep(20) }
    }
    return counts
  }

  /// Replaces a handler where it lives.
  private func replace(_ owners: [StressOwner], using generator: inout SeededGenerator) {
    let number = Int.random(in: owners.indices, using: &generator)
    observe(topic(number), owners[number], on: number.isMultiple(of: 2) ? nil : queues[1])
    let handlers = counters.handlers.load(ordering: .relaxed)
    if handlers > Self.largestCountOfHandlers { fault("\(handlers) handlers are alive") }
  }

  /// Replaces a handler in another home. While one home calls the old handler, another one may call the
  /// new one with a later message.
  private func move(_ owners: [StressOwner], using generator: inout SeededGenerator) {
    let number = Int.random(in: owners.indices, using: &generator)
    let queue = [nil, queues[0], queues[1]].randomElement(using: &generator) ?? nil
    observe(topic(number), owners[number], on: queue, isOrdered: false)
    usleep(UInt32.random(in: 1...100, using: &generator))
  }

  /// Observes one of the busy topics and removes itself: no call must begin on this thread after that.
  private func comeAndGo(using generator: inout SeededGenerator) {
    let owner = StressOwner("one that comes and goes", posters: Self.posters + 1)
    let topic = topic(Int.random(in: 0..<Self.topics, using: &generator))
    let sentinel = HandlerSentinel(counters)
    let removal = Removal()
    let call: @Sendable (StressOwner, StressMessage) -> Void = { [unowned self] owner, _ in
      if removal.isOver { fault("\(owner.name) was called after its removal") }
      extendLifetime(sentinel)
    }
    let observation =
      Bool.random(using: &generator)
      ? center.observe(topic, owner: owner, id: 0, call)
      : center.observe(topic, owner: owner, id: 0, on: queues[1], call)
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: observation.cancel()
    case 1: center.removeObservers(of: topic, owner: owner)
    default: center.remove(owner)
    }
    removal.note()
    if observation.isActive { fault("\(owner.name) is active after its removal") }
  }

  /// Observes topics that nobody else uses, posts there, and expects the messages at once.
  private func useShortTopics(using generator: inout SeededGenerator) {
    let name = Int.random(in: 0..<40, using: &generator)
    let topic = Topic<StressMessage>("short \(name)")
    let owner = StressOwner("the only one of a short topic", posters: Self.posters + 1)
    observe(topic, owner, on: nil)
    for number in 1...3 {
      let count = center.post(topic, StressMessage(number, from: Self.posters, counters))
      if count != 1 || owner.taken[Self.posters] != number {
        fault("\(owner.name) has missed message \(number)")
      }
    }
    center.remove(owner)
    // Others make the center look for topics without observers.
    for number in 0..<20 {
      let topic = Topic<StressMessage>("\(name), \(number)")
      center.observe(topic, owner: owner, id: 0) { _, _ in }.cancel()
    }
  }

  private func waitForMessages() {
    wait(for: "messages") { counters.messages.load(ordering: .acquiring) }
  }

  private func waitForHandlers() {
    wait(for: "handlers") { counters.handlers.load(ordering: .acquiring) }
  }

  private func wait(for what: String, _ count: () -> Int) {
    let end = ContinuousClock.now + .seconds(20)
    while count() > 0 {
      guard ContinuousClock.now < end else { return fault("\(count()) \(what) have not ended") }
      usleep(100)
    }
  }
}

/// Tells threads to end.
private final class OverFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  var isOver: Bool { flag.load(ordering: .relaxed) }

  func end() { flag.store(true, ordering: .relaxed) }
}
