import Dispatch
import Foundation
import Systems

/// What every table is made with.
struct Lab: Sendable {
  var isQuick = false

  /// What the titles of tables or rows contain; nil for all.
  var filter: String?

  /// How often everything is measured, by turns.
  var rounds: Int { isQuick ? 3 : 15 }

  /// How long one measurement should take, in nanoseconds.
  var sampleTime: Double { isQuick ? 5e5 : 5e6 }

  /// The numbers of clients in the tables of operations and memory.
  var listSizes: [Int] { isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000] }

  /// Makes a table of the rows that are wanted; nil if none is.
  ///
  /// - Parameters:
  ///   - baseline: The row that others are compared with. It is always measured.
  ///   - measure: Returns the columns of these rows.
  func table<Row>(
    _ title: String, _ unit: String, columns: [String], rows: [Row], named name: (Row) -> String,
    baseline: String? = nil, showsRatios: Bool = true, note: String? = nil,
    measure: ([Row]) -> [[Measurement?]]
  ) -> Table? {
    func wants(_ row: Row) -> Bool {
      guard let filter else { return true }
      return [title, name(row)].contains { $0.lowercased().contains(filter.lowercased()) }
    }
    guard rows.contains(where: wants) else { return nil }
    FileHandle.standardError.write(Data("\(title)\n".utf8))
    let measured = rows.filter { wants($0) || name($0) == baseline }
    let cells = measure(measured)
    return Table(
      title: title, unit: unit, columns: columns,
      rows: measured.indices.map { row in (name(measured[row]), cells.map { $0[row] }) },
      baseline: showsRatios ? baseline : nil, note: note)
  }
}

// MARK: - Rounds

/// Measures something once: nanoseconds of an operation, one number or several.
typealias Sampler = () -> [Double]

extension Lab {
  /// Measures all by turns, each round in another order. So what disturbs the machine disturbs all alike.
  /// Returns the measurements of the first one, then those of the second one, and so on.
  func byTurns(_ samplers: [Sampler], rounds: Int? = nil) -> [Measurement] {
    var samples = samplers.map { _ in [[Double]]() }
    for round in 0..<(rounds ?? self.rounds) {
      for turn in samplers.indices {
        let index = (turn + round) % samplers.count
        samples[index].append(samplers[index]())
      }
    }
    return samples.flatMap { rounds in
      rounds[0].indices.map { number in Measurement(rounds.map { $0[number] }) }
    }
  }

  /// The same for trials, which must all have delivered all events.
  func byTurns(
    _ trials: [Trial], operations: Int = 1, time: Double = 1, rounds: Int? = nil
  ) -> [Measurement] {
    defer { for trial in trials { trial.check() } }
    let samplers = trials.map { trial in
      repeating(step: trial.step, operations: operations, time: time, trial.send)
    }
    return byTurns(samplers, rounds: rounds)
  }

  /// A sampler that repeats its work as often as fits into the time of a measurement.
  ///
  /// - Parameters:
  ///   - step: The work is repeated in multiples of this.
  ///   - operations: How many operations the work has, for each repetition.
  ///   - time: How many times longer than others it measures.
  func repeating(
    step: Int = 1, operations: Int = 1, time: Double = 1, _ run: @escaping (_ count: Int) -> Void
  ) -> Sampler {
    let sampleTime = time * sampleTime
    var count = step
    // Twice as much until a measurement is long enough to judge by; this also warms up.
    var time = stopwatch { run(count) }
    while time < sampleTime / 4, count < 1 << 30 {
      count *= 2
      time = stopwatch { run(count) }
    }
    let chosen = max(1, Int(Double(count) * sampleTime / max(time, 1) / Double(step))) * step
    return { [stopwatch { run(chosen) } / (Double(chosen) * Double(operations))] }
  }
}

extension [Measurement] {
  /// The same in so many columns, one after the other.
  func columns(_ count: Int) -> [[Measurement]] {
    let height = self.count / count
    return (0..<count).map { Array(self[($0 * height)...].prefix(height)) }
  }
}

/// The nanoseconds that `work` takes.
func stopwatch(_ work: () -> Void) -> Double {
  let begin = DispatchTime.now().uptimeNanoseconds
  work()
  return Double(DispatchTime.now().uptimeNanoseconds - begin)
}

// MARK: - Trials

/// A contender and its clients.
final class Trial {
  let step: Int
  private let title: String
  private let clients: [any Counting]
  private let deliver: (_ events: Int) -> Void
  private var events = 0

  private init(
    _ title: String, _ clients: [any Counting], step: Int, deliver: @escaping (Int) -> Void
  ) {
    (self.title, self.clients, self.step, self.deliver) = (title, clients, step, deliver)
  }

  /// - Parameter scattered: Whether the clients stand in the list in another order than in memory.
  convenience init(_ contender: Contender<any Client>, clientCount: Int, scattered: Bool = false) {
    var clients = makeClients(clientCount)
    var generator = SeededGenerator()
    if scattered { clients.shuffle(using: &generator) }
    self.init(
      contender.title, clients, step: contender.step(clientCount), deliver: contender.make(clients))
  }

  /// Events are delivered when the last recipient had the last one.
  convenience init(_ contender: Contender<Recipient>, recipientCount: Int) {
    let countdown = Countdown()
    let recipients = (0..<recipientCount).map { _ in Recipient(countdown) }
    let send = contender.make(recipients)
    self.init(contender.title, recipients, step: 1) { events in
      countdown.begin(recipientCount)
      for number in (0..<events).reversed() { send(number) }
      countdown.wait()
    }
  }

  func send(_ count: Int) {
    deliver(count)
    events += count
  }

  /// Stops the program unless every client got every event: who delivers less is not faster.
  func check() {
    for client in clients {
      precondition(client.calls == events, "\(title): \(client.calls) of \(events) events arrived")
    }
  }
}

/// Random numbers that are the same in every run: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}
