import Foundation
import MulticastCarrierTesting
import Testing

@testable import MulticastCarrier

/// Senders, a log and readers without time, tasks or threads. A seed decides what happens next.
///
/// Appends fail before or after they were stored, records are too large, the log drops old records, readers fail and
/// begin again at their position, and other processes write in the senders' names.
private struct Simulation {
  struct Stored {
    let place: Int
    let sender: UInt64
    let first: UInt64
    let values: [UInt64]
    let isForged: Bool
  }

  struct Reader {
    var place = 0
    var inflow = Inflow()
    var heard: [UInt64: [UInt64]] = [:]
    var missing: [UInt64: UInt64] = [:]
    var disputed = 0
  }

  var random: SplitMix
  var outbox: Outbox
  var said: [UInt64: UInt64] = [:]
  var tooLarge: [UInt64: Set<UInt64>] = [:]
  var refused = 0
  var log: [Stored] = []
  var end = 0
  var readers: [Reader]
  let senders: [UInt64] = [11, 22, 33]
  let dropsOld, forges, rewinds: Bool

  init(seed: UInt64) {
    random = SplitMix(seed: seed)
    var limits = Carriage.Limits()
    limits.waitingMessages = 20 + random.below(200)
    outbox = Outbox(limits: limits)
    for sender in senders { outbox.open(sender) }
    readers = (0..<1 + random.below(3)).map { _ in Reader() }
    dropsOld = random.chance(40)
    forges = random.chance(30)
    let isHalf = random.chance(50)
    rewinds = !dropsOld && (!forges || isHalf)
  }

  private mutating func post(_ sender: UInt64) {
    let value = said[sender, default: 0] + 1
    guard outbox.reserve(8) else {
      refused += 1
      return
    }
    said[sender] = value
    if random.chance(2) { tooLarge[sender, default: []].insert(value) }
    _ = outbox.add((0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }, to: sender)
  }

  private func values(_ packed: Outbox.Packed) -> [UInt64] {
    packed.items.map { item in (0..<8).reduce(0) { $0 | UInt64(item[$1]) << (8 * UInt64($1)) } }
  }

  private mutating func send(_ sender: UInt64, isCalm: Bool) -> Bool {
    guard let packed = outbox.next(sender) else { return false }
    let values = values(packed)
    if values.contains(where: { tooLarge[sender]?.contains($0) ?? false }) {
      if values.count > 1 { outbox.split(sender) } else { outbox.finish(sender) }
      return true
    }
    if !isCalm, random.chance(20) { return true }
    store(
      Stored(place: end + 1, sender: sender, first: packed.first, values: values, isForged: false))
    // The acknowledgement may be lost.
    if isCalm || !random.chance(20) { outbox.finish(sender) }
    return true
  }

  private mutating func store(_ record: Stored) {
    log.append(record)
    end += 1
    if dropsOld, log.count > 15 { log.removeFirst() }
  }

  private mutating func forge() {
    let sender = senders[random.below(3)]
    // Two of them can continue each other, as honest ones do.
    if rewinds, log.contains(where: { $0.isForged && $0.sender == sender }) { return }
    let next = said[sender, default: 0]
    // While a log is read again, a forged number that is about to be used hides that message.
    let first =
      rewinds
      ? [1, next + 1_000, 1 << 40][random.below(3)]
      : [1, next, next + 1, next + 3, 1 << 40, UInt64(1 + random.below(100))][random.below(6)]
    store(Stored(place: end + 1, sender: sender, first: max(1, first), values: [0], isForged: true))
  }

  private mutating func read(_ index: Int, isCalm: Bool, limit: Int? = nil) {
    let limit = limit ?? (isCalm ? 32 : random.below(4))
    for record in log.filter({ $0.place > readers[index].place }).prefix(limit) {
      readers[index].place = record.place
      let hash = record.values.hashValue
      let finding = readers[index].inflow.take(
        Frame.Sender(id: record.sender, name: ""), first: record.first, count: record.values.count,
        hash: hash)
      switch finding {
      case .repeated: continue
      case .disputed: readers[index].disputed += 1
      case .new(let missing): readers[index].missing[record.sender, default: 0] += missing
      }
      if record.isForged { continue }
      readers[index].heard[record.sender, default: []] += record.values
    }
  }

  private mutating func settle(_ index: Int) {
    for (sender, missing) in readers[index].inflow.settle() {
      readers[index].missing[sender.id, default: 0] += missing
    }
  }

  /// The log is read again from an earlier position to its end, as after a server has lost its end.
  private mutating func rewind(_ index: Int) {
    readers[index].inflow.rewind()
    readers[index].place = max(0, readers[index].place - random.below(40))
    while readers[index].place < end { read(index, isCalm: true, limit: 1) }
    readers[index].inflow.endRewind()
  }

  /// Returns a sentence for each broken promise.
  mutating func run() -> [String] {
    // Each reader knows each sender. Otherwise, what is lost before a sender's first record would not be counted.
    for sender in senders {
      post(sender)
      tooLarge[sender] = nil
      _ = send(sender, isCalm: true)
    }
    for index in readers.indices { read(index, isCalm: true) }
    for _ in 0..<600 {
      let reader = random.below(readers.count)
      if random.chance(3) { settle(reader) }
      if rewinds, random.chance(2) { rewind(reader) }
      switch random.below(10) {
      case 0..<4: for _ in 0..<1 + random.below(5) { post(senders[random.below(3)]) }
      case 4..<7: _ = send(senders[random.below(3)], isCalm: false)
      case 7 where forges && random.chance(30): forge()
      default: read(random.below(readers.count), isCalm: false)
      }
      if outbox.messages > outbox.limits.waitingMessages { return ["Too much waits."] }
    }
    for sender in senders { while send(sender, isCalm: true) {} }
    for sender in senders {
      // A drop shows when the sender posts again.
      let last = said[sender, default: 0] + 1
      said[sender] = last
      tooLarge[sender]?.remove(last)
      _ =
        outbox.reserve(8)
        && outbox.add((0..<8).map { UInt8(truncatingIfNeeded: last >> (8 * $0)) }, to: sender)
          == true
      while send(sender, isCalm: true) {}
    }
    for index in readers.indices {
      while readers[index].place < end { read(index, isCalm: true) }
      for _ in 0..<2 { settle(index) }
    }
    return readers.flatMap(check)
  }

  private func check(_ reader: Reader) -> [String] {
    var broken: [String] = []
    for sender in senders {
      let heard = reader.heard[sender] ?? []
      let count = said[sender] ?? 0
      let once = Set(heard)
      // After a forged record, a log that is read again may repeat messages.
      if !(forges && rewinds), heard != once.sorted() {
        broken.append("\(sender): twice or out of order")
      }
      let lost = count - UInt64(once.count)
      if !dropsOld, lost != UInt64(tooLarge[sender]?.count ?? 0) {
        broken.append("\(sender): \(lost) lost")
      }
      if !forges, lost != reader.missing[sender] ?? 0 {
        broken.append("\(sender): \(lost) lost, \(reader.missing[sender] ?? 0) told")
      }
    }
    if !forges, reader.disputed > 0 { broken.append("\(reader.disputed) disputed") }
    return broken
  }
}

/// Processes that agree on a latest value.
private struct LatestSimulation {
  struct Process {
    enum Event { case own(Int), cameIn }
    var rule = LatestRule()
    var value: Int?
    /// The values of the others, in the order in which they came.
    var heard: [Int] = []
    /// The messages that the carriage has not received yet, in the order of the center.
    var home: [Event] = []
    var waiting: [Int] = []
    var sent = 0
    var place = 0
    /// The number of the own message up to which the log was read.
    var returned = 0
    /// The position of the sent record in the log, until its acknowledgement arrives.
    var acknowledgement: Int?
  }
  struct Record {
    let process, number, value: Int
    /// Another process has written it in this process's name. Other processes cannot decode it.
    var isForged = false
  }

  var random: SplitMix
  var log: [Record] = []
  var processes = (0..<3).map { _ in Process() }
  var next = 0

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  private mutating func hear(_ index: Int) {
    guard !processes[index].home.isEmpty else { return }
    switch processes[index].home.removeFirst() {
    case .own(let value):
      processes[index].rule.noteOwn()
      processes[index].waiting.append(value)
    case .cameIn: processes[index].rule.noteCameIn()
    }
  }

  private mutating func send(_ index: Int, isCalm: Bool) {
    if processes[index].acknowledgement.take() != nil {
      return processes[index].rule.noteStored()
    }
    guard let value = processes[index].waiting.first else { return }
    let number = processes[index].sent + 1
    processes[index].rule.noteSent(UInt64(number), hash: value)
    log.append(Record(process: index, number: number, value: value))
    // The acknowledgement may be lost. Then the record is sent again.
    if !isCalm, random.chance(20) { return }
    processes[index].waiting.removeFirst()
    processes[index].sent = number
    processes[index].acknowledgement = log.count
  }

  private mutating func read(_ index: Int) {
    // The reader waits until the carriage has received its posts.
    let waits = processes[index].home.contains { if case .cameIn = $0 { true } else { false } }
    guard processes[index].place < log.count, !waits else { return }
    let record = log[processes[index].place]
    processes[index].place += 1
    if record.process == index {
      if !record.isForged {
        guard record.number > processes[index].returned else { return }
        processes[index].returned = record.number
      }
      let isOurs = processes[index].rule.noteReturn(UInt64(record.number), hash: record.value)
      guard isOurs else { return }
    } else if record.isForged {
      return
    } else {
      processes[index].heard.append(record.value)
    }
    // A post may come between the decision and the post.
    if random.chance(20) { post(index) }
    processes[index].value = record.value
    processes[index].home.append(.cameIn)
  }

  private mutating func post(_ index: Int) {
    next += 1
    processes[index].value = next
    processes[index].home.append(.own(next))
  }

  mutating func run() -> [String] {
    for _ in 0..<200 {
      let index = random.below(3)
      switch random.below(8) {
      case 0: post(index)
      case 1, 2: hear(index)
      case 3, 4: send(index, isCalm: false)
      case 5 where random.chance(20):
        let number = random.chance(50) ? processes[index].sent : random.below(1 << 40)
        log.append(Record(process: index, number: number, value: -1, isForged: true))
      default: read(index)
      }
    }
    for _ in 0..<2_000 {
      let index = random.below(3)
      hear(index)
      send(index, isCalm: true)
      while processes[index].place < log.count {
        let old = processes[index].place
        read(index)
        hear(index)
        if processes[index].place == old, processes[index].home.isEmpty { break }
      }
    }
    let isStill = processes.allSatisfy {
      $0.home.isEmpty && $0.waiting.isEmpty && $0.place == log.count
    }
    let values = processes.map(\.value)
    let last = log.last { !$0.isForged }?.value
    for (index, process) in processes.enumerated() {
      let others = log.filter { $0.process != index && !$0.isForged }.map(\.value)
      // A record that is sent again is skipped by its number.
      let once = others.enumerated().filter { others.firstIndex(of: $1) == $0 }.map(\.element)
      let heard = process.heard.enumerated().filter { process.heard.firstIndex(of: $1) == $0 }
      if heard.map(\.element) != once { return ["\(index) has not heard all of the others"] }
    }
    return !isStill
      ? ["not still"]
      : Set(values).count > 1 || values[0] != last
        ? ["latest \(values), the log's \(last.map { "\($0)" } ?? "none")"] : []
  }
}

@Suite struct SimulationTests {
  /// `SIMULATIONS=100000` tries this number of seeds.
  private static let seeds =
    ProcessInfo.processInfo.environment["SIMULATIONS"].flatMap(Int.init) ?? 500

  @Test func everyMessageComesOnceInOrderOrIsReported() {
    for seed in 0..<SimulationTests.seeds {
      var simulation = Simulation(seed: UInt64(seed))
      let broken = simulation.run()
      #expect(broken.isEmpty, "seed \(seed)")
    }
  }

  @Test func latestValuesAgree() {
    for seed in 0..<SimulationTests.seeds {
      var simulation = LatestSimulation(seed: UInt64(seed))
      let broken = simulation.run()
      #expect(broken.isEmpty, "seed \(seed)")
    }
  }
}
