import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// Several processes on a network that does its worst, in a time of its own: the protocol between
/// carriages, without threads, clocks and engines. A seed repeats a run.
///
/// After the faults, everybody is connected again. `run` returns each promise that was broken, as a
/// sentence.
public struct Simulation {
  /// What the network and the processes do.
  public struct Faults: Sendable {
    /// How many of a hundred payloads are lost.
    public var drop = 0
    /// How many of a hundred payloads arrive twice.
    public var duplicate = 0
    /// How many milliseconds a payload takes at most. Each takes its own time, so that they overtake each
    /// other.
    public var delay = 1
    /// How many of a hundred payloads the carrier refuses, because too many wait.
    public var full = 0
    /// Whether connections are lost and come back, one by one.
    public var splits = false
    /// Whether the engine ends and comes back, with all connections and all that is on its way.
    public var engineRestarts = false
    /// Whether processes end without a word, and are started again under their names.
    public var processRestarts = false
    /// Whether the engine stores what is published.
    public var stores = false
    /// Whether it loses all of that from time to time.
    public var empties = false
    /// Whether little is held of what comes too early.
    public var holdsLittle = false

    /// Creates a network without faults.
    public init() {}

    /// Chooses faults at random. Each eighth network only delays.
    public init(seed: UInt64) {
      var random = SplitMix(seed: seed)
      guard seed % 8 != 7 else {
        delay = 2 + random.below(59)
        return
      }
      drop = random.chance(2) ? random.below(30) : 0
      duplicate = random.chance(2) ? random.below(20) : 0
      delay = random.chance(3) ? 1 : 1 + random.below(300)
      full = random.chance(4) ? random.below(20) : 0
      splits = random.chance(2)
      engineRestarts = random.chance(2)
      processRestarts = random.chance(2)
      stores = random.chance(2)
      empties = stores && random.chance(3)
      holdsLittle = random.chance(3)
    }
  }

  private final class Process {
    let identity: Identity
    let isConnected = NIOLockedValueBox(false)
    let refuses = NIOLockedValueBox(SplitMix(seed: 1))
    let outbox = NIOLockedValueBox<[(payload: ByteBuffer, subject: String)]>([])
    var exchange: Exchange
    var subjects: Set<String> = []
    /// What waits in the center for the carriage: what was posted here, and what came in.
    var center: [(value: UInt64, stamp: Stamp?)] = []
    var latest: UInt64?
    var posted: [String: UInt64] = [:]
    /// What this process had delivered from others when it posted a message of the causal topic.
    var causes: [UInt64: [Identity: UInt64]] = [:]
    /// Of each process, the last message of the causal topic to which this one has heard an answer.
    var answered: [Identity: UInt64] = [:]
    var delivered: [Inflow: [UInt64]] = [:]
    var joined: [Identity: [String: UInt64]] = [:]
    var gaps: [Inflow: [UInt64: UInt64]] = [:]
    var reports: [CarriageReport] = []
    var reading: (at: NIODeadline, Replays.Reading)?
    /// The topics whose store was empty when this process read on where it had been.
    var emptied: Set<String> = []
    /// After which messages of a process all that the engine stores is to be heard, though the process ends.
    var covered: [Inflow: UInt64] = [:]

    struct Inflow: Hashable {
      let sender: Identity
      let type: String
    }

    init(name: String, start: UInt64, _ faults: Faults) {
      identity = Identity(name: name, start: start)
      let (isConnected, outbox, refuses) = (isConnected, outbox, refuses)
      refuses.withLockedValue { $0 = SplitMix(seed: start) }
      var limits = Carriage.Limits()
      limits.keptBytes = 64 << 20
      if faults.holdsLittle { limits.heldBytes = 600 }
      exchange = Exchange(
        identity: identity, prefix: "s", limits: limits, replays: faults.stores
      ) { payload, subject in
        guard isConnected.withLockedValue({ $0 }) else { return .disconnected }
        guard refuses.withLockedValue({ $0.below(100) >= faults.full }) else {
          return .full(waiting: 0)
        }
        outbox.withLockedValue { $0.append((payload, subject)) }
        return nil
      }
      for type in Simulation.types { exchange.carry(type, Simulation.topic(type)) }
      subjects = Set(Simulation.types.map { exchange.subject(of: $0) })
      subjects.formUnion([exchange.control, exchange.inbox])
    }
  }

  static let types = ["first", "second", "causal", "latest"]
  static func topic(_ type: String) -> Exchange.Carried {
    Exchange.Carried(keepsLatest: type == "latest", isCausal: type == "causal")
  }

  private var random: SplitMix
  private let faults: Faults
  private let seconds: Int
  private var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
  private var processes: [Process] = []
  private var gone: [Process] = []
  private var wire: [(at: NIODeadline, to: Identity, payload: ByteBuffer)] = []
  private var starts: UInt64 = 0
  private var engineIsUp = true
  private var store = SimulatedStore()
  private var isHealing = false
  private var broken: [String] = []

  /// Creates a network.
  ///
  /// - Parameter seconds: How long the faults last, in the network's own time. Less than half of the 30
  ///   seconds for
  ///   which messages are kept.
  public init(seed: UInt64, processes count: Int = 3, seconds: Int = 8, faults: Faults) {
    random = SplitMix(seed: seed)
    self.faults = faults
    self.seconds = seconds
    for number in 0..<count { processes.append(start("p\(number)")) }
    for process in processes { connect(process) }
  }

  /// Runs to the end.
  ///
  /// - Returns: A sentence for each promise that was broken.
  public mutating func run() -> [String] {
    for step in 0..<(seconds * 100) {
      if step % 10 == 0 { disturb() }
      for process in processes where random.chance(8) { post(process) }
      advance(step)
    }
    isHealing = true
    engineIsUp = true
    for process in processes { connect(process) }
    // Longer than a message is waited for that a process has taken with it.
    for step in 0..<4_500 { advance(step) }
    check()
    return broken
  }

  private mutating func start(_ name: String) -> Process {
    starts += 1
    return Process(name: name, start: random.next() | 1, faults)
  }

  // MARK: Faults

  private mutating func disturb() {
    if faults.engineRestarts, random.chance(30) {
      engineIsUp.toggle()
      wire = []
      for process in processes { engineIsUp ? connect(process) : disconnect(process) }
    }
    if faults.empties, random.chance(20) { store.empty() }
    if faults.splits {
      for process in processes where random.chance(20) {
        process.isConnected.withLockedValue { $0 } ? disconnect(process) : connect(process)
      }
    }
    if faults.processRestarts, random.chance(30) {
      let index = random.below(processes.count)
      let old = processes[index]
      gone.append(old)
      wire.removeAll { $0.to == old.identity }
      processes[index] = start(old.identity.name)
      connect(processes[index])
    }
  }

  private func connect(_ process: Process) {
    guard engineIsUp, !process.isConnected.withLockedValue({ $0 }) else { return }
    process.isConnected.withLockedValue { $0 = true }
    process.exchange.connect(at: now)
  }

  private mutating func disconnect(_ process: Process) {
    guard process.isConnected.withLockedValue({ $0 }) else { return }
    process.isConnected.withLockedValue { $0 = false }
    process.exchange.disconnect()
    wire.removeAll { $0.to == process.identity }
  }

  // MARK: Time

  private mutating func post(_ process: Process) {
    let type = Simulation.types[random.below(Simulation.types.count)]
    if type == "latest" {
      return process.center.append((random.next(), nil))
    }
    let number = (process.posted[type] ?? 0) + 1
    let envelope = Simulation.envelope(type, number)
    guard process.exchange.post(envelope, payloadLimit: 1 << 20, at: now) == nil else { return }
    process.posted[type] = number
    guard type == "causal" else { return }
    process.causes[number] = process.delivered.reduce(into: [:]) { causes, entry in
      if entry.key.type == type { causes[entry.key.sender] = entry.value.last }
    }
  }

  static func envelope(_ type: String, _ value: UInt64) -> Envelope {
    Envelope(type: type, body: ByteBuffer(integer: value))
  }

  private mutating func advance(_ step: Int) {
    now = now + .milliseconds(10)
    var arriving: [(at: NIODeadline, to: Identity, payload: ByteBuffer)] = []
    wire.removeAll { entry in
      guard entry.at <= now else { return false }
      arriving.append(entry)
      return true
    }
    arriving.sort { $0.at < $1.at }
    for entry in arriving {
      guard let process = processes.first(where: { $0.identity == entry.to }) else { continue }
      process.exchange.receive(entry.payload, at: now)
      take(process)
    }
    for process in processes {
      if step % 5 == 0 { process.exchange.tick(at: now) }
      // The carriage hears what is posted some time after it was posted.
      while !process.center.isEmpty, random.chance(2) {
        let (value, stamp) = process.center.removeFirst()
        process.latest = value
        if let stamp {
          process.exchange.heard(stamp, of: "latest")
        } else {
          _ = process.exchange.post(
            Simulation.envelope("latest", value), payloadLimit: 1 << 20, at: now)
        }
      }
      take(process)
      read(process)
      // The carriage sends in one go what was posted.
      for type in Simulation.types where process.exchange.isToSend(type) {
        while process.exchange.send(type, at: now) {}
      }
      carry(process)
    }
  }

  private mutating func carry(_ process: Process) {
    let payloads = process.outbox.withLockedValue { outbox in
      defer { outbox = [] }
      return outbox
    }
    for (payload, subject) in payloads {
      if faults.stores { store.append(payload, to: subject) }
      for other in processes where other !== process && other.subjects.contains(subject) {
        guard other.isConnected.withLockedValue({ $0 }) else { continue }
        for _ in 0..<(!isHealing && random.below(100) < faults.duplicate ? 2 : 1) {
          if !isHealing && random.below(100) < faults.drop { continue }
          let delay = TimeAmount.milliseconds(Int64(random.below(max(1, faults.delay))))
          wire.append((now + delay, other.identity, payload))
        }
      }
    }
  }

  private mutating func read(_ process: Process) {
    if let (time, reading) = process.reading, time <= now {
      process.reading = nil
      let subject = process.exchange.subject(of: reading.type)
      if engineIsUp, isHealing || !random.chance(5) {
        let page = store.page(subject, after: reading.position)
        process.exchange.take(page, reading, at: now)
        if let place = reading.position, !place.epoch.isEmpty, place.epoch != page.end.epoch {
          process.emptied.insert(reading.type)
        }
      } else {
        _ = process.exchange.fail(reading, at: now)
      }
      take(process)
    }
    if process.reading == nil,
      let reading = process.exchange.nextReading(at: now, where: { _ in true })
    {
      let delay = TimeAmount.milliseconds(Int64(random.below(max(1, faults.delay))))
      process.reading = (now + delay, reading)
    }
    // What is posted once a process knows its sender and the store is in the store behind that place.
    for sender in processes where process.joined[sender.identity] != nil {
      for type in Simulation.types where process.exchange.knowsTheStore(type) {
        let key = Process.Inflow(sender: sender.identity, type: type)
        process.covered[key] = process.covered[key] ?? sender.posted[type] ?? 0
      }
    }
  }

  private mutating func take(_ process: Process) {
    for delivery in process.exchange.takeDeliveries() {
      let value = delivery.envelope.body.getInteger(at: 0, as: UInt64.self) ?? 0
      if delivery.stamp != nil {
        process.center.append((value, delivery.stamp))
        continue
      }
      let type = delivery.envelope.type
      let key = Process.Inflow(sender: delivery.sender, type: type)
      if value != delivery.sequence {
        broken.append("\(type) \(value) of \(delivery.sender) came as \(delivery.sequence).")
      }
      if type == "causal" { checkCauses(of: value, from: delivery.sender, at: process) }
      process.delivered[key, default: []].append(value)
    }
    for report in process.exchange.takeReports(at: now) {
      process.reports.append(report)
      switch report {
      case .joined(let sender):
        guard process.joined[sender] == nil,
          let posted = processes.first(where: { $0.identity == sender })?.posted
        else { continue }
        process.joined[sender] = posted
      case .gapPossible(let place, let missing):
        let key = Process.Inflow(sender: place.sender, type: place.type)
        process.gaps[key, default: [:]][place.sequence] = missing
      default: break
      }
    }
  }

  // MARK: Promises

  /// In a network that only delays, and by less than the hold-back, nobody hears a question after its answer,
  /// whoever has met whom.
  ///
  /// A question from before its author was met may never come: messages are complete from then on, which
  /// `check` makes sure of. Both together are all that is promised: a question that has to come comes before
  /// its answer. Where payloads are lost, a question may take longer than the hold-back.
  private mutating func checkCauses(of value: UInt64, from sender: Identity, at process: Process) {
    guard faults.delay <= 60, faults.drop == 0, faults.full == 0, !faults.splits,
      !faults.engineRestarts, !faults.processRestarts
    else { return }
    if let answered = process.answered[sender], value <= answered {
      broken.append("\(process.identity) heard an answer before \(value) of \(sender).")
    }
    let causes = processes.first { $0.identity == sender }?.causes[value] ?? [:]
    for (author, number) in causes {
      process.answered[author] = max(number, process.answered[author] ?? 0)
    }
  }

  private mutating func check() {
    for process in processes {
      for (key, values) in process.delivered {
        if Set(values).count < values.count {
          broken.append("\(process.identity) heard a message of \(key) twice.")
        }
        if values != values.sorted() {
          broken.append("\(process.identity) heard the messages of \(key) out of order.")
        }
        for (one, next) in zip(values, values.dropFirst()) where next != one + 1 {
          let gaps = process.gaps[key] ?? [:]
          var place = one
          while let missing = gaps[place] { place += missing }
          if place + 1 != next {
            broken.append("\(process.identity) was not told of a gap of \(key) after \(one).")
          }
        }
      }
      for sender in processes where sender !== process {
        guard let joined = process.joined[sender.identity] else {
          broken.append("\(process.identity) has not heard that \(sender.identity) is there.")
          continue
        }
        for (type, last) in sender.posted {
          let key = Process.Inflow(sender: sender.identity, type: type)
          let heard = Set(process.delivered[key] ?? [])
          let first = (joined[type] ?? 0) + 1
          let missing = (first...max(first, last)).filter { $0 <= last && !heard.contains($0) }
          if !missing.isEmpty {
            broken.append(
              "\(process.identity) misses \(missing.prefix(5)) of \(sender.identity) to \(type)."
            )
          }
        }
      }
      checkStore(at: process)
      if process.latest != processes[0].latest {
        broken.append("\(process.identity) has another latest value than the first process.")
      }
      let waiting = process.exchange.waitingToLeave.messages
      if waiting > 0 { broken.append("\(waiting) messages of \(process.identity) never left.") }
      if process.exchange.counts.skipped > 0 {
        broken.append("\(process.identity) skipped something: \(process.reports)")
      }
    }
  }
}

extension Simulation {
  /// What a process has said that has ended is heard if the engine still has it, and a store that was emptied is told.
  private mutating func checkStore(at process: Process) {
    // Otherwise nothing that follows would be asked for.
    for type in Simulation.types where faults.stores && !process.exchange.knowsTheStore(type) {
      broken.append("\(process.identity) has never read in the store of \(type).")
    }
    for type in process.emptied where !process.reports.contains(.storeBeganAnew(type: type)) {
      broken.append("\(process.identity) was not told that the store of \(type) was emptied.")
    }
    for sender in gone {
      for type in Simulation.types {
        let key = Process.Inflow(sender: sender.identity, type: type)
        guard let covered = process.covered[key] else { continue }
        let heard = Set(process.delivered[key] ?? [])
        let missing = store.numbers(of: sender.identity, process.exchange.subject(of: type))
          .filter { $0 > covered && !heard.contains($0) }
        if !missing.isEmpty {
          broken.append(
            "\(process.identity) misses \(missing.prefix(5)) of \(sender.identity) to \(type), "
              + "which the engine has.")
        }
      }
    }
  }
}

/// What a simulated engine stores.
private struct SimulatedStore {
  private var epoch = 0
  private var payloads: [String: [ByteBuffer]] = [:]

  mutating func append(_ payload: ByteBuffer, to subject: String) {
    payloads[subject, default: []].append(payload)
  }

  mutating func empty() { (epoch, payloads) = (epoch + 1, [:]) }

  func page(_ subject: String, after position: StoredPosition?) -> StoredPayloads {
    let all = payloads[subject] ?? []
    let isKnown = position?.epoch == "\(epoch)"
    let start = position == nil ? all.count : isKnown ? position.flatMap { Int($0.offset) } ?? 0 : 0
    let end = min(all.count, start + 8)
    return StoredPayloads(
      Array(all[start..<end]), end: .init(epoch: "\(epoch)", offset: "\(end)"),
      hasMore: end < all.count)
  }

  /// The numbers of a process's messages.
  func numbers(of sender: Identity, _ subject: String) -> [UInt64] {
    (payloads[subject] ?? []).flatMap { payload -> [UInt64] in
      guard let packet = try? Packet(payload), packet.sender == sender else { return [] }
      return packet.contents.compactMap { content in
        if case .message(_, let sequence, _) = content { sequence } else { nil }
      }
    }
  }
}

/// A generator of random numbers that a seed repeats.
struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }
  mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
}
