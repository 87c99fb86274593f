import CoreModel
import Foundation
import Multicast

/// A random program of clients and handlers that post. Its history shows whether each call was right.
///
/// A seed decides everything except the timing of threads: the homes, their receivers, the posts of each thread, and the posts of
/// each call.
final class PostProgram: Sendable {
  /// A feature that a program may use.
  enum Feature: String, CaseIterable {
    /// Receivers are added and removed while threads post.
    case removing

    /// Handlers are replaced while threads post.
    case replacing

    /// One topic keeps its latest message.
    case latest

    /// Some calls await.
    case awaiting

    /// Some messages post in their `deinit`.
    case echoing
  }

  enum Home: Sendable {
    case queue(DispatchQueue, isSerial: Bool)
    case room(Room)
  }

  /// An actor that is the home of receivers.
  actor Room {
    func run(_ body: @Sendable (isolated Room) -> Void) { body(self) }
  }

  /// Where a receiver is called.
  enum ReceiverHome: Hashable, Sendable {
    case home(Int)
    case noHome
    case ownMailbox

    var name: String {
      switch self {
      case .home(let home): "home \(home)"
      case .noHome: "no home"
      case .ownMailbox: "a mailbox of its own"
      }
    }
  }

  /// The lists that a program posts to: two topics, a topic that keeps its latest message, and two protocols.
  enum List {
    case first, second, latest
    case plain, awaiting

    var isTopic: Bool { self != .plain && self != .awaiting }

    var topic: Topic<PostMessage> { Topic("\(self)", keepsLatest: self == .latest) }
  }

  private static let largestCountOfMessages = 160
  private static let queueKey = DispatchSpecificKey<Int>()

  let seed: UInt64
  let features: Set<Feature>
  let history = Locked(PostHistory())
  let homes: [Home]
  let center = MulticastCenter()
  private let messages = Counted.Counter()
  private let receivers = Locked<[Receiver]>([])

  /// The probability that a call posts again, in percent.
  private let eagerness: Int
  private let usableLists: [List]

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.seed = seed
    features = Set(Feature.allCases.filter { _ in Int.random(in: 0..<3, using: &generator) > 0 })
    homes = (0..<Int.random(in: 1...4, using: &generator)).map { number in
      let kind = Int.random(in: 0..<5, using: &generator)
      guard kind < 3 else { return .room(Room()) }
      let queue = DispatchQueue(
        label: "home \(number)", attributes: kind == 2 ? .concurrent : [])
      queue.setSpecific(key: Self.queueKey, value: number)
      return .queue(queue, isSerial: kind < 2)
    }
    eagerness = [0, 10, 25, 40].randomElement(using: &generator) ?? 0
    usableLists =
      [.first, .second, .plain] + (features.contains(.latest) ? [.latest] : [])
      + (features.contains(.awaiting) ? [.awaiting] : [])
  }
}

/// A message. It is counted until it is deallocated.
final class PostMessage: Sendable {
  let number: Int

  /// Decides which receivers post again. Unlike the number, it is the same in each run.
  let key: UInt64
  let depth: Int
  private let counted: Counted

  /// Posts when this message is deallocated. Nil if the message posts nothing then.
  private let program: PostProgram?

  init(_ number: Int, key: UInt64, depth: Int, _ counted: Counted, echoingIn program: PostProgram?)
  {
    self.number = number
    self.key = key
    self.depth = depth
    self.counted = counted
    self.program = program
  }

  deinit { program?.echo(number, key: key, depth: depth) }
}

// MARK: - Posting and handling

extension PostProgram {
  /// Creates a message, and chooses a random list for it.
  private func begin(
    key: UInt64, depth: Int = 0, cause: Int? = nil, home: Int? = nil, waits: Bool = false,
    isEcho: Bool = false
  ) -> (PostMessage, List) {
    var generator = SeededGenerator(seed: key)
    let list = usableLists.randomElement(using: &generator) ?? .first
    var message = PostHistory.Message(list: list, cause: cause, home: home, waits: waits)
    message.isNested = isEcho
    let number = history.withLock { $0.begin(message) }
    return (
      PostMessage(
        number, key: generator.next(), depth: depth, Counted(by: messages),
        echoingIn: features.contains(.echoing) && depth < 4 && key % 3 == 0 ? self : nil), list
    )
  }

  private func post(
    key: UInt64, depth: Int = 0, cause: Int? = nil, home: Int? = nil, isEcho: Bool = false,
    isolation: isolated (any Actor)? = #isolation
  ) {
    let (message, list) = begin(key: key, depth: depth, cause: cause, home: home, isEcho: isEcho)
    let count =
      switch list {
      case .plain: center.post((any PlainListener).self) { $0.hear(message) }.clients
      case .awaiting:
        center.post((any AwaitingListener).self, awaiting: { await $0.hearAwaiting(message) })
          .clients
      default: center.post(list.topic, message).clients
      }
    history.withLock { $0.end(message: message.number, count: count) }
  }

  /// Posts the message that a message posts in its `deinit`.
  fileprivate func echo(_ number: Int, key: UInt64, depth: Int) {
    guard history.withLock({ $0.messages.count }) < Self.largestCountOfMessages else { return }
    post(
      key: key &* 0x9E37_79B9 &+ 7, depth: depth + 1, cause: number, isEcho: true, isolation: nil)
  }

  private func postAndWait(key: UInt64) async {
    let (message, list) = begin(key: key, waits: true)
    let count =
      switch list {
      case .plain: await center.post((any PlainListener).self) { $0.hear(message) }.delivered()
      case .awaiting:
        await center.post(
          (any AwaitingListener).self,
          awaiting: {
            await $0.hearAwaiting(message)
          }
        ).delivered()
      default: await center.post(list.topic, message).delivered()
      }
    history.withLock { $0.end(message: message.number, count: count) }
  }

  func handle(_ message: PostMessage, by receiver: Receiver) {
    let call = PostHistory.Call(
      message: message.number, receiver: receiver.number, isAwaited: false)
    let number = history.withLock { $0.begin(call) }
    if case .home(let home) = receiver.home, case .queue = homes[home],
      DispatchQueue.getSpecific(key: Self.queueKey) != home
    {
      history.withLock { $0.fault(call, "was made elsewhere") }
    }
    react(to: message, as: receiver)
    history.withLock { $0.end(call: number) }
  }

  func handleAwaiting(_ message: PostMessage, by receiver: Receiver) async {
    let call = PostHistory.Call(
      message: message.number, receiver: receiver.number, isAwaited: true)
    let number = history.withLock { $0.begin(call) }
    if message.key % 3 == 0 { await Task.yield() }
    react(to: message, as: receiver)
    if message.key % 5 == 0 { await Task.yield() }
    history.withLock { $0.end(call: number) }
  }

  private func react(to message: PostMessage, as receiver: Receiver) {
    var generator = SeededGenerator(seed: message.key &+ UInt64(receiver.number) &* 0x9E37)
    Self.loiter(using: &generator)
    guard message.depth < 4,
      history.withLock({ $0.messages.count }) < Self.largestCountOfMessages
    else { return }
    for _ in 0..<2 where Int.random(in: 0..<100, using: &generator) < eagerness {
      post(key: generator.next(), depth: message.depth + 1, cause: message.number, isolation: nil)
    }
  }

  /// Waits for a short random time.
  private static func loiter(using generator: inout some RandomNumberGenerator) {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: sched_yield()
    case 1: usleep(UInt32.random(in: 1...50, using: &generator))
    default: break
    }
  }
}

// MARK: - Running

extension PostProgram {
  /// Runs the program. Returns descriptions of its faults.
  func run() -> [String] {
    var generator = SeededGenerator(seed: seed ^ 0x5EED)
    let count = Int.random(in: 2...12, using: &generator)
    for _ in 0..<count { makeReceiver(using: &generator).register() }
    let group = DispatchGroup()
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      onThread(in: group, seed: generator.next()) { [self] generator in
        postSome(2...12, isolation: nil, using: &generator)
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
    if !features.isDisjoint(with: [.removing, .replacing, .latest]) {
      onThread(in: group, seed: generator.next()) { [self] generator in
        for _ in 0..<Int.random(in: 1...10, using: &generator) { change(using: &generator) }
      }
    }
    guard group.waitForEnd() else { return ["it does not end"] }
    // A message may post another one in its `deinit`.
    repeat {
      let settling = DispatchGroup()
      settling.enter()
      Task.detached { [center] in
        await center.settled()
        settling.leave()
      }
      guard settling.waitForEnd() else { return ["it does not settle"] }
    } while center.removeLatest(of: List.latest.topic) != nil
    let alive = messages.waitForEnd()
    guard alive == 0 else { return ["\(alive) messages have not ended"] }
    // Handlers retain the program, and the program retains their center.
    center.removeAll()
    receivers.withLock { $0 = [] }
    var history = history.withLock { $0 }
    history.check()
    return history.faults
  }

  private func postAtHome(_ home: Int, seed: UInt64, _ group: DispatchGroup) {
    group.enter()
    switch homes[home] {
    case .queue(let queue, let isSerial):
      queue.async { [self] in
        var generator = SeededGenerator(seed: seed)
        postSome(1...8, at: isSerial ? home : nil, isolation: nil, using: &generator)
        group.leave()
      }
    case .room(let room):
      Task.detached { [self] in
        await room.run { room in
          var generator = SeededGenerator(seed: seed)
          postSome(1...8, at: home, isolation: room, using: &generator)
        }
        group.leave()
      }
    }
  }

  private func postSome(
    _ count: ClosedRange<Int>, at home: Int? = nil, isolation: isolated (any Actor)?,
    using generator: inout SeededGenerator
  ) {
    for _ in 0..<Int.random(in: count, using: &generator) {
      post(key: generator.next(), home: home)
      Self.loiter(using: &generator)
    }
  }

  /// Creates a receiver in a random home.
  private func makeReceiver(using generator: inout SeededGenerator) -> Receiver {
    let list = usableLists.randomElement(using: &generator) ?? .first
    let home = randomHome(for: list, using: &generator)
    let number = history.withLock { $0.add(PostHistory.Registration(list: list, home: home)) }
    let receiver = Receiver(number, list: list, in: home, of: self)
    receivers.withLock { $0.append(receiver) }
    return receiver
  }

  private func randomHome(for list: List, using generator: inout SeededGenerator) -> ReceiverHome {
    if list == .awaiting { return .ownMailbox }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1: return .noHome
    case 2 where features.contains(.awaiting) && list.isTopic: return .ownMailbox
    default: return .home(Int.random(in: homes.indices, using: &generator))
    }
  }

  /// Adds, removes or replaces a random receiver.
  private func change(using generator: inout SeededGenerator) {
    Self.loiter(using: &generator)
    let receiver = receivers.withLock { $0.randomElement(using: &generator) }
    guard let receiver else { return }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0 where features.contains(.removing): receiver.remove()
    case 1 where features.contains(.replacing):
      if receiver.list.isTopic, receiver.home != .ownMailbox, !receiver.isRemoved {
        receiver.register()
      }
    default: makeReceiver(using: &generator).register()
    }
  }
}
