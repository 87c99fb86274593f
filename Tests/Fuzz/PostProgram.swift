import CoreModel
import Foundation
import Multicast
import Synchronization

/// A random program of clients and handlers that post, to be judged by what it has logged.
///
/// A seed decides all that threads do not: the homes, who lives there, what is posted from where, and what
/// each call posts on.
final class PostProgram: Sendable {
  /// What may be left out of programs, to look for something else.
  enum Feature: String, CaseIterable {
    /// Receivers that come and go while others post.
    case removing

    /// Handlers that are replaced while others post, where they live or in another home.
    case replacing, moving

    /// A topic that keeps its last message.
    case latest

    /// Calls that await.
    case awaiting
  }

  enum Home: Sendable {
    case queue(DispatchQueue, isSerial: Bool)
    case room(Room)
  }

  /// Where a receiver is called.
  enum Place: Hashable, Sendable {
    case home(Int)
    case nowhere
    case lane
  }

  /// What can be posted to: two topics, one that keeps its last message, and two protocols.
  enum List {
    static let first = 0
    static let second = 1
    static let latest = 2
    static let plain = 3
    static let awaiting = 4
  }

  static let largestCountOfMessages = 160

  let seed: UInt64
  let features: Set<Feature>
  let log = PostLog()
  let homes: [Home]
  let alive = Atomic<Int>(0)
  let wrongPlaces = Atomic<Int>(0)
  let center = MulticastCenter()
  let receivers = Locked<[Receiver]>([])

  /// How likely a call is to post on, in percent.
  let eagerness: Int
  private let usableLists: [Int]

  init(seed: UInt64, without excluded: Set<Feature>) {
    var generator = SeededGenerator(seed: seed)
    self.seed = seed
    features = Set(Feature.allCases.filter { _ in Int.random(in: 0..<3, using: &generator) > 0 })
      .subtracting(excluded)
    homes = (0..<Int.random(in: 1...4, using: &generator)).map { number in
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1:
        let queue = DispatchQueue(label: "serial \(number)")
        queue.setSpecific(key: Self.queueKey, value: number)
        return .queue(queue, isSerial: true)
      case 2:
        let queue = DispatchQueue(label: "concurrent \(number)", attributes: .concurrent)
        queue.setSpecific(key: Self.queueKey, value: number)
        return .queue(queue, isSerial: false)
      default: return .room(Room())
      }
    }
    eagerness = [0, 10, 25, 40].randomElement(using: &generator) ?? 0
    usableLists =
      [List.first, List.second, List.plain]
      + (features.contains(.latest) ? [List.latest] : [])
      + (features.contains(.awaiting) ? [List.awaiting] : [])
  }

  static let queueKey = DispatchSpecificKey<Int>()
}

/// An actor to live in.
actor Room {
  func run(_ body: @Sendable (isolated Room) -> Void) { body(self) }
}

/// A message. It is counted as long as it lives.
final class PostMessage: Sendable {
  let number: Int

  /// What decides who posts on. The same in each run, unlike the number.
  let key: UInt64
  let depth: Int
  private let program: PostProgram

  init(_ number: Int, key: UInt64, depth: Int, in program: PostProgram) {
    self.number = number
    self.key = key
    self.depth = depth
    self.program = program
    program.alive.add(1, ordering: .relaxed)
  }

  deinit { program.alive.subtract(1, ordering: .relaxed) }
}

protocol PlainListener {
  func hear(_ message: PostMessage)
}

protocol AwaitingListener: Sendable {
  func hearAwaiting(_ message: PostMessage) async
}

/// Somebody who is called: a client, or the owner of a handler.
final class Receiver: PlainListener, AwaitingListener {
  let number: Int
  let list: Int
  let first: PostProgram.Place
  private unowned let program: PostProgram
  private let observation = Locked<TopicObservation?>(nil)

  /// Where it is called now, and how often its handler has been replaced.
  private let current: Locked<(place: PostProgram.Place, version: Int, isRemoved: Bool)>

  init(_ number: Int, list: Int, in place: PostProgram.Place, of program: PostProgram) {
    self.number = number
    self.list = list
    first = place
    self.program = program
    current = Locked((place, 0, false))
  }

  var isRemoved: Bool { current.withLock { $0.isRemoved } }

  /// Replaces the handler, at another place if one is given.
  func replace(at place: PostProgram.Place?) {
    let (place, version, _) = current.withLock { current in
      current.place = place ?? current.place
      current.version += 1
      return current
    }
    register(in: place, version: version)
  }

  func hear(_ message: PostMessage) { program.handle(message, by: self, in: first, version: 0) }

  func hearAwaiting(_ message: PostMessage) async {
    await program.handleAwaiting(message, by: self, version: 0)
  }

  func register() { register(in: first, version: 0) }

  private func register(in place: PostProgram.Place, version: Int) {
    let program = program
    program.log.note(.registrationBegins, receiver: number, version: version)
    defer { program.log.note(.registrationEnds, receiver: number, version: version) }
    let center = program.center
    if list == PostProgram.List.plain {
      switch place {
      case .home(let home):
        switch program.homes[home] {
        case .queue(let queue, _): center[(any PlainListener).self].add(self, on: queue)
        case .room(let room): center[(any PlainListener).self].add(self, isolation: room)
        }
      default: center[(any PlainListener).self].add(self, isolation: nil)
      }
      return
    }
    if list == PostProgram.List.awaiting {
      center.add(self, for: (any AwaitingListener).self)
      return
    }
    let topic = PostProgram.topic(list)
    let token: TopicObservation
    switch place {
    case .home(let home):
      switch program.homes[home] {
      case .queue(let queue, _):
        token = center.observe(topic, owner: self, id: 0, on: queue) { me, message in
          program.handle(message, by: me, in: place, version: version)
        }
      case .room(let room):
        // The handler is written in the room, as one of the room's own would be.
        token = observe(topic, in: room, version: version)
      }
    case .nowhere:
      token = center.observe(topic, owner: self, id: 0) { me, message in
        program.handle(message, by: me, in: place, version: version)
      }
    case .lane:
      token = center.observe(topic, owner: self, id: 0) { me, message in
        await program.handleAwaiting(message, by: me, version: version)
      }
    }
    observation.withLock { $0 = token }
  }

  private func observe(
    _ topic: Topic<PostMessage>, in room: Room, version: Int
  ) -> TopicObservation {
    let place = first
    let program = program
    return program.center.observe(topic, owner: room, id: number) {
      [weak self] (_: isolated Room, message) in
      guard let self else { return }
      program.handle(message, by: self, in: place, version: version)
    }
  }

  func remove() {
    current.withLock { $0.isRemoved = true }
    program.log.note(.removalBegins, receiver: number)
    defer { program.log.note(.removalEnds, receiver: number) }
    switch list {
    case PostProgram.List.plain: program.center.remove(self, for: (any PlainListener).self)
    case PostProgram.List.awaiting: program.center.remove(self, for: (any AwaitingListener).self)
    default: observation.withLock { $0 }?.cancel()
    }
  }
}

// MARK: - Posting and handling

extension PostProgram {
  static func topic(_ list: Int) -> Topic<PostMessage> {
    Topic("\(list)", keepsLatest: list == List.latest)
  }

  func post(
    key: UInt64, depth: Int = 0, cause: Int? = nil, home: Int? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    var generator = SeededGenerator(seed: key)
    let list = usableLists.randomElement(using: &generator) ?? 0
    let number = log.begin(PostLog.Posted(list: list, cause: cause, home: home, waits: false))
    let message = PostMessage(number, key: generator.next(), depth: depth, in: self)
    let count =
      switch list {
      case List.plain: center.post((any PlainListener).self) { $0.hear(message) }
      case List.awaiting:
        center.post((any AwaitingListener).self) { await $0.hearAwaiting(message) }
      default: center.post(Self.topic(list), message, line: 1000 + list)
      }
    log.end(number, count: count)
  }

  func postAndWait(key: UInt64) async {
    var generator = SeededGenerator(seed: key)
    let list = usableLists.randomElement(using: &generator) ?? 0
    let number = log.begin(PostLog.Posted(list: list, cause: nil, home: nil, waits: true))
    let message = PostMessage(number, key: generator.next(), depth: 0, in: self)
    let count =
      switch list {
      case List.plain: await center.postAndWait((any PlainListener).self) { $0.hear(message) }
      case List.awaiting:
        await center.postAndWait((any AwaitingListener).self) { await $0.hearAwaiting(message) }
      default: await center.postAndWait(Self.topic(list), message, line: 2000 + list)
      }
    log.end(number, count: count)
  }

  func handle(_ message: PostMessage, by receiver: Receiver, in place: Place, version: Int) {
    log.note(
      .callBegins, message: message.number, receiver: receiver.number, version: version)
    if case .home(let home) = place, case .queue = homes[home],
      DispatchQueue.getSpecific(key: Self.queueKey) != home
    {
      wrongPlaces.add(1, ordering: .relaxed)
    }
    react(to: message, as: receiver)
    log.note(.callEnds, message: message.number, receiver: receiver.number, version: version)
  }

  func handleAwaiting(_ message: PostMessage, by receiver: Receiver, version: Int) async {
    log.note(
      .callBegins, message: message.number, receiver: receiver.number, version: version,
      isAwaited: true)
    if message.key % 3 == 0 { await Task.yield() }
    react(to: message, as: receiver)
    if message.key % 5 == 0 { await Task.yield() }
    log.note(
      .callEnds, message: message.number, receiver: receiver.number, version: version,
      isAwaited: true)
  }

  private func react(to message: PostMessage, as receiver: Receiver) {
    var generator = SeededGenerator(seed: message.key &+ UInt64(receiver.number) &* 0x9E37)
    Self.loiter(using: &generator)
    guard message.depth < 4, log.count < Self.largestCountOfMessages else { return }
    for _ in 0..<2 where Int.random(in: 0..<100, using: &generator) < eagerness {
      post(
        key: generator.next(), depth: message.depth + 1, cause: message.number, isolation: nil)
    }
  }

  /// Takes a random short time.
  static func loiter(using generator: inout some RandomNumberGenerator) {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: sched_yield()
    case 1: usleep(UInt32.random(in: 1...50, using: &generator))
    default: break
    }
  }
}

// MARK: - Running

extension PostProgram {
  /// Runs the program. Returns what it has done wrong.
  func run() -> [String] {
    var generator = SeededGenerator(seed: seed ^ 0x5EED)
    let count = Int.random(in: 2...12, using: &generator)
    for _ in 0..<count { makeReceiver(using: &generator).register() }
    let group = DispatchGroup()
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let seed = generator.next()
      onThread(in: group) { [self] in
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 2...12, using: &generator) {
          post(key: generator.next(), isolation: nil)
          Self.loiter(using: &generator)
        }
      }
    }
    for home in homes.indices where Bool.random(using: &generator) {
      postAtHome(home, seed: generator.next(), group)
    }
    if features.contains(.awaiting), Bool.random(using: &generator) {
      let seed = generator.next()
      group.enter()
      Task.detached { [self] in
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<3 { await postAndWait(key: generator.next()) }
        group.leave()
      }
    }
    if !features.isDisjoint(with: [.removing, .replacing, .moving, .latest]) {
      let seed = generator.next()
      onThread(in: group) { [self] in
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 1...10, using: &generator) { change(using: &generator) }
      }
    }
    guard group.wait(timeout: .now() + 60) == .success else { return ["it does not end"] }
    return finish()
  }

  /// Waits until every message has ended.
  private func finish() -> [String] {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      center.removeLatest(of: Self.topic(List.latest))
      let alive = alive.load(ordering: .acquiring)
      if alive == 0 { break }
      guard ContinuousClock.now < end else { return ["\(alive) messages have not ended"] }
      usleep(30)
    }
    var faults = PostChecker(self).faults()
    // Handlers keep the program, which keeps their center.
    center.removeAll()
    receivers.withLock { $0 = [] }
    if wrongPlaces.load(ordering: .relaxed) > 0 { faults.append("somebody was called elsewhere") }
    return faults
  }

  private func postAtHome(_ home: Int, seed: UInt64, _ group: DispatchGroup) {
    group.enter()
    switch homes[home] {
    case .queue(let queue, _):
      queue.async { [self] in
        postSome(at: home, seed: seed, isolation: nil)
        group.leave()
      }
    case .room(let room):
      Task.detached { [self] in
        await room.run { room in postSome(at: home, seed: seed, isolation: room) }
        group.leave()
      }
    }
  }

  private func postSome(at home: Int, seed: UInt64, isolation: isolated (any Actor)?) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      post(key: generator.next(), home: home)
      Self.loiter(using: &generator)
    }
  }

  /// A new receiver, at a random place.
  private func makeReceiver(using generator: inout SeededGenerator) -> Receiver {
    let list = usableLists.randomElement(using: &generator) ?? 0
    let place = randomPlace(for: list, using: &generator)
    return receivers.withLock { receivers in
      let receiver = Receiver(receivers.count, list: list, in: place, of: self)
      receivers.append(receiver)
      return receiver
    }
  }

  private func randomPlace(for list: Int, using generator: inout SeededGenerator) -> Place {
    if list == List.awaiting { return .lane }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1: return .nowhere
    case 2 where features.contains(.awaiting) && list < List.plain: return .lane
    default: return .home(Int.random(in: homes.indices, using: &generator))
    }
  }

  /// Changes who is registered.
  private func change(using generator: inout SeededGenerator) {
    Self.loiter(using: &generator)
    let all = receivers.withLock { $0 }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0 where features.contains(.removing):
      if let receiver = all.randomElement(using: &generator) { receiver.remove() }
    case 1 where features.contains(.replacing):
      replace(all.randomElement(using: &generator), at: nil)
    case 2 where features.contains(.moving):
      if let receiver = all.randomElement(using: &generator) {
        replace(receiver, at: randomPlace(for: receiver.list, using: &generator))
      }
    default: makeReceiver(using: &generator).register()
    }
  }

  private func replace(_ receiver: Receiver?, at place: Place?) {
    // A room's own handlers stay there: another owner would be another registration.
    guard let receiver, receiver.list < List.plain, !receiver.isRemoved, !isRoom(receiver.first),
      place.map({ !isRoom($0) }) ?? true
    else { return }
    receiver.replace(at: place)
  }

  private func isRoom(_ place: Place) -> Bool {
    if case .home(let home) = place, case .room = homes[home] { true } else { false }
  }
}
