import CoreModel
import Foundation
import Multicast

/// Several threads that observe, replace, remove and post to topics that come and go, in rounds.
///
/// Each message has the number of its poster and a running number, so that an owner that observes all the time can
/// detect whether a message is lost, arrives twice or overtakes another one. After each round, every message and every
/// handler must be deallocated.
final class TopicStress: Sendable {
  private static let topics = 4
  private static let posters = 2

  /// At most this number of handlers may be alive at any moment. About 20 of them are registered.
  private static let largestCountOfHandlers = 2000

  private let seed: UInt64
  private let center = MulticastCenter()
  private let queues = (0..<2).map { DispatchQueue(label: "stress \($0)") }
  private let found = Locked<[String]>([])
  private let messages = Counted.Counter()
  private let handlers = Counted.Counter()

  /// A part of the names of topics, so that each round uses new topics.
  private let round = Atomic<Int>(0)

  init(seed: UInt64) {
    self.seed = seed
  }

  var faults: [String] { found.withLock { $0 } }

  var summary: String {
    let rounds = round.load(ordering: .relaxed)
    let messages = messages.all.load(ordering: .relaxed)
    let handlers = handlers.all.load(ordering: .relaxed)
    return "\(rounds) rounds of \(messages) messages and \(handlers) handlers: nothing wrong"
  }

  /// Runs rounds until this time, or until the first fault.
  func run(until end: DispatchTime) {
    var generator = SeededGenerator(seed: seed)
    while DispatchTime.now() < end, faults.isEmpty {
      runRound(using: &generator)
      round.wrappingAdd(1, ordering: .relaxed)
    }
  }

  private func fault(_ text: String) {
    found.withLock { found in
      if found.count < 20 { found.append(text) }
    }
  }

  private func topic(_ number: Int) -> Topic<StressMessage> {
    Topic("\(round.load(ordering: .relaxed) * Self.topics + number)")
  }

  /// A topic that keeps its latest message. Some of its handlers observe with `newestOnly`.
  private var state: Topic<StressMessage> { Topic("state", keepsLatest: true) }
}

private struct StressMessage: Sendable {
  let poster: Int
  let number: Int
  let counted: Counted
}

/// Owns handlers, and stores the number of the last message of each poster.
private final class StressOwner: Sendable {
  let name: String
  private let last: Locked<[Int]>

  init(_ name: String, posters: Int) {
    self.name = name
    last = Locked(Array(repeating: 0, count: posters))
  }

  /// Receives a message. Returns a fault if the message is not the next one of its poster.
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

/// Owns handlers of the state, and records the messages that they receive.
private final class Follower: Sendable {
  let name: String
  private let order = Locked<[[Int]]>([])

  init(_ name: String) { self.name = name }

  func take(_ message: StressMessage) {
    order.withLock { $0.append([message.poster, message.number]) }
  }

  var taken: [[Int]] { order.withLock { $0 } }

  /// Returns a fault unless the messages are a part of another follower's, in the same order, and include its last one.
  func fault(beside other: Follower) -> String? {
    let (all, some) = (other.taken, taken)
    let positions = Dictionary(zip(all, 0...)) { first, _ in first }
    let found = some.map { positions[$0] ?? -1 }
    if found.contains(-1) { return "\(name) had a message that \(other.name) had not" }
    if !zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) {
      return "\(name) had messages again or late: \(found)"
    }
    return all.last == some.last ? nil : "\(name) has missed the last message"
  }
}

// MARK: - A round

extension TopicStress {
  private func runRound(using generator: inout SeededGenerator) {
    // For each topic, because posters count the messages to each topic separately.
    let owners = (0..<Self.topics).map { observeAllTheTime(topic($0), $0) }
    let followers = observeState()
    let posted = Locked(
      Array(repeating: Array(repeating: 0, count: Self.posters), count: Self.topics))
    let posters = DispatchGroup()
    for poster in 0..<Self.posters {
      onThread(in: posters, seed: generator.next()) { [self] generator in
        let counts = post(as: poster, using: &generator)
        posted.withLock { posted in
          for (topic, count) in counts.enumerated() { posted[topic][poster] = count }
        }
      }
    }
    let others = DispatchGroup()
    let isOver = Atomic<Bool>(false)
    let replaced = owners.map { $0[2] }
    let kinds: [@Sendable (TopicStress, inout SeededGenerator) -> Void] = [
      { $0.replace(replaced, using: &$1) }, { $0.comeAndGo(using: &$1) },
      { $0.useShortTopics(using: &$1) },
    ]
    for work in kinds {
      onThread(in: others, seed: generator.next()) { [self] generator in
        while !isOver.load(ordering: .relaxed) { work(self, &generator) }
      }
    }
    guard posters.waitForEnd() else { return fault("the posters do not end") }
    isOver.store(true, ordering: .relaxed)
    guard others.waitForEnd() else { return fault("the other threads do not end") }
    center.removeLatest(of: state)
    waitForEnd(of: messages, "messages")
    let counts = posted.withLock { $0 }
    for poster in 0..<Self.posters {
      let heard = followers[0].taken.filter { $0[0] == poster }.map { $0[1] }
      let count = counts.map { $0[poster] }.reduce(0, +)
      if heard != Array(1...count) {
        fault("\(followers[0].name) had \(heard) of poster \(poster)'s \(count) messages")
      }
    }
    for follower in followers.dropFirst() {
      if let text = follower.fault(beside: followers[0]) { fault(text) }
    }
    center.removeHandlers(of: state)
    for (topic, owners) in owners.enumerated() {
      for owner in owners where owner.taken != counts[topic] && faults.isEmpty {
        fault("\(owner.name) has taken \(owner.taken) messages of \(counts[topic])")
      }
      center.removeHandlers(of: self.topic(topic))
    }
    waitForEnd(of: handlers, "handlers")
  }

  private func waitForEnd(of counter: Counted.Counter, _ what: String) {
    let alive = counter.waitForEnd()
    if alive > 0 { fault("\(alive) \(what) have not ended") }
  }

  /// Registers three handlers that must receive every message: without a home, on a queue, and one that is replaced.
  private func observeAllTheTime(_ topic: Topic<StressMessage>, _ number: Int) -> [StressOwner] {
    let names = ["without a home", "on a queue", "replaced"]
    let owners = names.map { StressOwner("topic \(number)'s \($0)", posters: Self.posters) }
    observe(topic, owners[0], on: nil)
    observe(topic, owners[1], on: queues[0])
    observe(topic, owners[2], on: number.isMultiple(of: 2) ? nil : queues[1])
    return owners
  }

  /// Registers a follower that must receive every message, and three others with `newestOnly`.
  private func observeState() -> [Follower] {
    let followers = ["the one of all", "one in no home", "one on a queue", "one that awaits"]
      .map { Follower($0) }
    let counted = followers.map { _ in Counted(by: handlers) }
    center.observe(state, owner: followers[0]) { owner, message in
      owner.take(message)
      extendLifetime(counted[0])
    }
    center.observe(state, owner: followers[1], newestOnly: true) { owner, message in
      owner.take(message)
      extendLifetime(counted[1])
    }
    center.observe(state, owner: followers[2], newestOnly: true, on: queues[0]) { owner, message in
      owner.take(message)
      extendLifetime(counted[2])
    }
    center.observe(state, owner: followers[3], newestOnly: true) { owner, message in
      await Task.yield()
      owner.take(message)
      extendLifetime(counted[3])
    }
    return followers
  }

  /// Adds a handler that records the messages, or replaces it.
  private func observe(
    _ topic: Topic<StressMessage>, _ owner: StressOwner, on queue: DispatchQueue?
  ) {
    _ = observe(topic, owner, on: queue) { [unowned self] owner, message in
      if let text = owner.take(message) { fault(text) }
    }
  }

  private func observe(
    _ topic: Topic<StressMessage>, _ owner: StressOwner, on queue: DispatchQueue?,
    _ handler: @escaping @Sendable (StressOwner, StressMessage) -> Void
  ) -> TopicObservation {
    let counted = Counted(by: handlers)
    let call: @Sendable (StressOwner, StressMessage) -> Void = { owner, message in
      handler(owner, message)
      extendLifetime(counted)
    }
    return if let queue {
      center.observe(topic, owner: owner, id: 0, on: queue, call)
    } else {
      center.observe(topic, owner: owner, id: 0, call)
    }
  }

  private func message(_ number: Int, from poster: Int) -> StressMessage {
    StressMessage(poster: poster, number: number, counted: Counted(by: messages))
  }

  /// Posts to all topics in a random order. Returns the number of messages for each topic.
  private func post(as poster: Int, using generator: inout SeededGenerator) -> [Int] {
    var counts = Array(repeating: 0, count: Self.topics)
    for _ in 0..<Int.random(in: 50...400, using: &generator) {
      let number = Int.random(in: counts.indices, using: &generator)
      counts[number] += 1
      center.post(topic(number), message(counts[number], from: poster))
      center.post(state, message(counts.reduce(0, +), from: poster))
      if Int.random(in: 0..<50, using: &generator) == 0 { usleep(20) }
    }
    return counts
  }

  /// Replaces a handler in its home.
  private func replace(_ owners: [StressOwner], using generator: inout SeededGenerator) {
    let number = Int.random(in: owners.indices, using: &generator)
    observe(topic(number), owners[number], on: number.isMultiple(of: 2) ? nil : queues[1])
    let alive = handlers.alive.load(ordering: .relaxed)
    if alive > Self.largestCountOfHandlers { fault("\(alive) handlers are alive") }
  }

  /// Observes one of the busy topics and removes itself: no call must begin on this thread after that.
  private func comeAndGo(using generator: inout SeededGenerator) {
    let owner = StressOwner("one that comes and goes", posters: Self.posters)
    let topic = topic(Int.random(in: 0..<Self.topics, using: &generator))
    let removingThread = Atomic<UInt>(0)
    let queue = Bool.random(using: &generator) ? nil : queues[1]
    let observation = observe(topic, owner, on: queue) { [unowned self] owner, _ in
      if removingThread.load(ordering: .acquiring) == currentThread() {
        fault("\(owner.name) was called after its removal")
      }
    }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: observation.cancel()
    case 1: center.removeHandlers(of: topic, owner: owner)
    default: center.remove(owner)
    }
    removingThread.store(currentThread(), ordering: .releasing)
    if observation.isActive { fault("\(owner.name) is active after its removal") }
  }

  /// Observes a topic that no other thread uses, posts to it, and expects that the handler is called before `post` returns.
  private func useShortTopics(using generator: inout SeededGenerator) {
    let name = Int.random(in: 0..<40, using: &generator)
    let topic = Topic<StressMessage>("short \(name)")
    let owner = StressOwner("the only one of a short topic", posters: 1)
    observe(topic, owner, on: nil)
    for number in 1...3 {
      let count = center.post(topic, message(number, from: 0)).clients
      if count != 1 || owner.taken != [number] {
        fault("\(owner.name) has missed message \(number)")
      }
    }
    center.remove(owner)
    // With more topics, the center searches for topics without handlers.
    for number in 0..<20 {
      let topic = Topic<StressMessage>("\(name), \(number)")
      center.observe(topic, owner: owner, id: 0) { _, _ in }.cancel()
    }
  }
}
