import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis

struct Attack: Sendable {
  let kind: Engine.Kind
  init(_ kind: Engine.Kind) { self.kind = kind }

  private func carrier(
    _ engine: Engine, port: Int? = nil, isShort: Bool = false
  ) throws -> any Carrier & Registry {
    try carrier(port: port ?? engine.port, isShort: isShort)
  }

  private func carrier(port: Int, isShort: Bool = false) throws -> any Carrier & Registry {
    let url = "\(kind)://127.0.0.1:\(port)"
    switch kind {
    case .nats:
      var configuration = try NATSConfiguration(url: url)
      if isShort { configuration.maxBytes = 1 << 20 }
      return NATSCarrier(configuration)
    case .redis:
      var configuration = try RedisConfiguration(url: url)
      if isShort { configuration.records = 50 }
      return RedisCarrier(configuration)
    }
  }

  private func sites(
    _ engine: Engine, port: Int? = nil, count: Int = 3, isShort: Bool = false
  ) async throws -> [Site] {
    var sites: [Site] = []
    for number in 0..<count {
      let site = Site(try carrier(engine, port: port, isShort: isShort), "site \(number)")
      await site.start()
      sites.append(site)
    }
    return sites
  }

  /// Posts this number of messages in a second, from each site.
  private func post(_ sites: [Site], rate: Int, seconds: Int) async {
    await withTaskGroup { group in
      for site in sites {
        group.addTask {
          let start = ContinuousClock.now
          for number in 0..<(rate * seconds) {
            site.post(CollectionOfOne(number))
            if number % 20 == 0 {
              try? await Task.sleep(until: start + .microseconds(1_000_000 / rate * number))
            }
          }
        }
      }
    }
  }

  /// Waits until every site has received all messages or reports about them, and prints the counts.
  private func result(_ name: String, _ sites: [Site], of senders: [Site], count: Int) async {
    var (lost, twice, disorder, told) = (0, 0, 0, 0)
    let start = ContinuousClock.now
    for site in sites {
      let seen = await site.until { seen in
        let heard = senders.reduce(0) { $0 + seen.notes(of: $1.name).count }
        return heard + Int(seen.missing) >= senders.count * count
      }
      for sender in senders {
        let numbers = seen.notes(of: sender.name)
        let all = Set(numbers)
        lost += count - all.count
        twice += numbers.count - all.count
        disorder += zip(numbers, numbers.dropFirst()).count { $0 > $1 }
      }
      told += Int(seen.missing)
    }
    let total = sites.count * senders.count * count
    let repeated = sites.reduce(0) { $0 + $1.carriage.condition.repeated }
    print(
      """
      MEASURED \(name), \(kind): \(total) deliveries, \(lost) lost, \(told) told, \(twice) twice, \
      \(disorder) out of order, \(repeated) repeated and skipped; complete \(ContinuousClock.now - start) \
      after the last post; \(memory) MB at most
      """)
  }

  /// The largest amount of memory that this process has used, in MB.
  private var memory: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) / 1_024
  }

  private func load(
    _ name: String, seconds: Int = 20, relay: ((Engine) throws -> Relay)? = nil,
    _ attack: @Sendable @escaping (Engine, Relay?) async throws -> Engine
  ) async throws {
    let engine = try await Engine(kind)
    let relay = try relay?(engine)
    let sites = try await sites(engine, port: relay?.port)
    async let posted: Void = post(sites, rate: 2_000, seconds: seconds)
    let last = try await attack(engine, relay)
    await posted
    await result(name, sites, of: sites, count: 2_000 * seconds)
    for site in sites { await site.stop() }
    withExtendedLifetime((engine, last)) {}
  }

  func killed() async throws {
    try await load("killed for 10 s") { engine, _ in
      try await Task.sleep(for: .seconds(5))
      try await engine.program.kill9()
      try await Task.sleep(for: .seconds(10))
      return try await Engine(kind, again: engine)
    }
  }

  func kills() async throws {
    try await load("killed 8 times") { engine, _ in
      var engine = engine
      for _ in 0..<8 {
        try await Task.sleep(for: .seconds(2))
        try await engine.program.kill9()
        engine = try await Engine(kind, again: engine)
      }
      return engine
    }
  }

  func stopped() async throws {
    try await load("stopped for 12 s") { engine, _ in
      try await Task.sleep(for: .seconds(4))
      engine.program.signal(SIGSTOP)
      try await Task.sleep(for: .seconds(12))
      engine.program.signal(SIGCONT)
      return engine
    }
  }

  func resets() async throws {
    try await load("connections reset 40 times", relay: { try Relay(to: $0.port) }) {
      engine, relay in
      for _ in 0..<40 {
        try await Task.sleep(for: .milliseconds(450))
        relay?.cut()
      }
      return engine
    }
  }

  func stuck(isShort: Bool) async throws {
    let engine = try await Engine(kind)
    let sites = try await sites(engine, count: 2, isShort: isShort)
    let gate = AsyncStream<Never>.makeStream()
    sites[1].center.observe(.note, owner: sites[1]) { _, _ in for await _ in gate.stream {} }
    await post([sites[0]], rate: 3_000, seconds: 30)
    print("MEASURED \(memory) MB at most while the handler is stuck")
    gate.continuation.finish()
    // A loss at the end shows when its sender posts again.
    await sites[0].until { $0.state?.waitingMessages == 0 }
    sites[0].post(90_000..<90_001)
    await result(
      isShort ? "log too short" : "stuck for 30 s", [sites[1]], of: [sites[0]], count: 90_001)
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  func forged() async throws {
    let engine = try await Engine(kind)
    let sites = try await sites(engine, count: 2)
    let stranger = try carrier(engine)
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    var start: Position?
    while start == nil { start = try? await stranger.end(of: log) }
    async let posted: Void = post([sites[0]], rate: 500, seconds: 10)
    let place = start ?? Position(epoch: 0, number: 0)
    let real = try await stranger.read(log, after: place, limit: 1)[0].bytes
    var random = SplitMix(seed: 1)
    for round in 0..<6_000 {
      var record = real
      switch random.below(3) {
      // A byte of the header, perhaps of the first message's number, under an honest name.
      case 0: record[random.below(40)] &+= UInt8(1 + random.below(200))
      case 1:
        for _ in 0...random.below(5) {
          record[random.below(record.count)] = UInt8(truncatingIfNeeded: random.next())
        }
      default:
        record = [UInt8](
          repeating: UInt8(round & 255), count: round % 100 == 0 ? 900_000 : random.below(200))
      }
      _ = try? await stranger.append(record, to: log, id: .random(in: 0 ... .max))
    }
    await posted
    let seen = await sites[1].until { $0.notes(of: "site 0").last == 4_999 }
    let all = Set(seen.notes(of: "site 0"))
    print(
      "MEASURED forged, \(kind): \(5_000 - all.intersection(0..<5_000).count) of 5,000 honest lost; \(memory) MB"
    )
    await stranger.close()
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  func topics() async throws {
    let engine = try await Engine(kind)
    let site = Site(try carrier(engine), "one") { _ in }
    site.run()
    let before = memory
    for round in 0..<100_000 {
      let topic = Topic<Int>("short \(round)")
      site.carriage.carry(topic, as: "short \(round)")
      try await site.carriage.post(topic, round)
      site.carriage.stopCarrying("short \(round)")
      // The measurement must not include the memory of this program's own notes.
      if round % 1_000 == 0 { site.forget() }
    }
    print("MEASURED 100,000 topics, \(kind): \(before) MB before, \(memory) MB at most afterwards")
    await site.stop()
    withExtendedLifetime(engine) {}
  }

  func measure(codec: String) async throws {
    let engine = try await Engine(kind)
    let arguments = ["receive", "\(kind)", "\(engine.port)", codec]
    try await Node.measure("\(kind)", arguments, carrier(engine), codec: codec)
    withExtendedLifetime(engine) {}
  }

  func receive(port: Int, codec: String) async throws {
    await Node.receive(try carrier(port: port), codec: codec)
  }
}
