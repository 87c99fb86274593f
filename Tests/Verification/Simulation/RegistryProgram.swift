import MulticastPlatform

/// Threads that look up and insert registries, that use topics, which come and go, and that count activities.
final class RegistryProgram: Program, @unchecked Sendable {
  final class Registry: ClientRegistry {
    let key: Int
    init(_ key: Int) { self.key = key }
    var lists: [ClientList] { [] }
    func removeClient(_ client: AnyObject) -> Int { key }
    func removeAll() {}
  }

  private struct Handler {
    let topic: Int
    var owner: Somewhere?
    var observation: TopicObservation?
    var begin = Int.max
    var end = Int.max
  }

  /// Some of these keys have the same first position in small tables.
  static let keys: [Somewhere] = {
    let all = (0..<200).map { _ in Somewhere() }
    let place = { (key: Somewhere) in Hashing.index(of: ObjectIdentifier(key).address, bits: 3) }
    return Array(all.filter { place($0) == 7 }.prefix(3) + all.filter { place($0) == 0 }.prefix(2))
  }()

  /// So different from each other that no message suggests that they are misspelled.
  private static let topics = ["one", "three", "eleven", "nineteen"].map { Topic<Int>($0) }

  override static var operations: [String] {
    [
      "ask", "find", "all", "observe", "observe", "observe", "cancel", "release", "remove",
      "remove",
      "post", "post", "keep", "overlap", "overlap", "count",
    ]
  }

  private var table = RegistryTable()
  private var found: [Registry?] = Array(repeating: nil, count: keys.count)
  private var center = MulticastCenter()
  private let activities = StripedCounter()
  private let lastActivity = Locked<StripedCounter.Stripe?>(nil)
  private var handlers: [Handler] = []
  private var heard: [[Int]] = []
  private var kept: [[(begin: Int, end: Int)]] = [[], [], []]

  required init(seed: UInt64) {
    super.init(seed: seed)
    // The center never drops the first topic of a message type.
    center.observe(Topic<UInt>("first"), owner: Somewhere()) { _, _ in }
  }

  override func perform(_ operation: String, _ random: inout SeededGenerator) {
    let key = Int.random(in: Self.keys.indices, using: &random)
    let topic = Int.random(in: 0..<4, using: &random)
    switch operation {
    case "ask":
      let registry = registry(
        table.findOrAdd(ObjectIdentifier(Self.keys[key])) { Registry(key) }, key)
      synchronized {
        if let other = found[key], other !== registry { fault("key \(key) has two registries") }
        found[key] = registry
      }
    case "find":
      let known = synchronized { found[key] }
      let place = table.find(ObjectIdentifier(Self.keys[key]))
      if let known, place == nil { fault("key \(known.key) was not found") }
      if let place, let known, registry(place, key) !== known {
        fault("key \(key) has another one")
      }
    case "all":
      let known = synchronized { found.compactMap { $0 } }
      let all = table.all
      if !known.allSatisfy({ one in all.contains { $0 === one } }) {
        fault("a registry is not listed")
      }
    case "observe": observe(topic)
    case "cancel": end(using: &random) { $0.observation?.cancel() }
    case "release": end(using: &random) { $0.owner = nil }
    case "remove":
      end(using: &random) { handler in
        let count = handler.owner.map { center.remove($0) }
        if count != 1 { fault("\(count ?? 0) handlers were removed with their owner") }
      }
    case "post": post(topic)
    case "overlap":
      // The next activity begins before the last one ends, so that there is always an activity.
      lastActivity.withLock { last in
        let next = activities.begin()
        if let last { _ = activities.end(last) }
        last = next
      }
    case "count":
      let isActive = lastActivity.withLock { $0 != nil }
      if isActive, activities.isZero { fault("no activity is counted") }
    default: keep(topic % 3)
    }
  }

  private func registry(_ place: UnsafeMutableRawPointer, _ key: Int) -> Registry {
    let registry = place.assumingMemoryBound(to: Registry.self).pointee
    if registry.key != key { fault("key \(key) has the registry of \(registry.key)") }
    return registry
  }

  // MARK: Topics

  private func observe(_ topic: Int) {
    let owner = Somewhere()
    let index = handlers.count
    handlers.append(Handler(topic: topic, owner: owner))
    heard.append([])
    let observation = center.observe(Self.topics[topic], owner: owner) {
      [unowned self] _, message in
      heard[index].append(message)
    }
    handlers[index].observation = observation
    synchronized { handlers[index].begin = tick() }
  }

  private func end(using random: inout SeededGenerator, _ body: (inout Handler) -> Void) {
    let active = handlers.indices.filter { handlers[$0].begin < .max && handlers[$0].end == .max }
    guard let index = active.randomElement(using: &random) else { return }
    handlers[index].end = tick()
    var handler = handlers[index]
    handlers[index].owner = nil
    body(&handler)
  }

  private func post(_ topic: Int) {
    let message = tick()
    let must = synchronized {
      handlers.indices.filter {
        handlers[$0].topic == topic && handlers[$0].begin < .max && handlers[$0].end == .max
      }
    }
    center.post(Self.topics[topic], message)
    for index in must
    where handlers[index].end == .max && heard[index].filter({ $0 == message }).count != 1 {
      fault("handler \(index) of topic \(topic) heard \(heard[index]) of \(message)")
    }
  }

  /// Keeps a message that no handler receives, and looks up other topics, so that the center drops the topics without handlers.
  private func keep(_ number: Int) {
    let topic = Topic<UInt>("kept \(number)", keepsLatest: true)
    let message = tick()
    let owner = Somewhere()
    center.observe(Topic<UInt>("\(message % 3)"), owner: owner) { _, _ in }.cancel()
    center.post(topic, UInt(message))
    kept[number].append((message, tick()))
    let ended = kept[number]
    let latest = center.latest(of: topic).map { Int($0) } ?? 0
    // No post made after the post of the latest message has returned.
    let end = ended.first { $0.begin == latest }?.end ?? .max
    if latest == 0 || ended.contains(where: { $0.begin > end }) {
      fault("the latest message is \(latest)")
    }
  }

  override func finish() {
    for (key, registry) in found.enumerated() where registry != nil {
      if table.find(ObjectIdentifier(Self.keys[key])) == nil { fault("key \(key) has been lost") }
    }
    if table.all.count != found.count(where: { $0 != nil }) {
      fault("\(table.all.count) registries")
    }
    for topic in 0..<4 { post(topic) }
    for (number, messages) in kept.enumerated() where !messages.isEmpty {
      if center.latest(of: Topic<UInt>("kept \(number)", keepsLatest: true)) == nil {
        fault("kept message \(number) has been lost")
      }
    }
    found = []
    table = RegistryTable()
    center = MulticastCenter()
  }
}
