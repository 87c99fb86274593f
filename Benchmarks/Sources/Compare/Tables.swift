import CAllocator
import Foundation
import Multicast
import OtherSystems
import Synchronization
import Systems

/// Several measurements of the same thing.
struct Measurement: Sendable {
  /// The measurement that was disturbed least.
  let best: Double

  let median: Double

  /// Summarizes measurements, at least one.
  init(_ samples: [Double]) {
    let sorted = samples.sorted()
    best = sorted[0]
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  /// Creates a value that was counted or computed.
  init(exactly value: Double) { (best, median) = (value, value) }
}

/// A table of measurements.
struct Table {
  /// A cell is nil if it was not measured.
  typealias Columns = [[Measurement?]]

  let title: String

  /// The unit of the numbers.
  let unit: String

  let columns: [String]

  let rows: [String]

  /// The row with which the others are compared.
  var baseline: Int?

  /// An explanation for the reader.
  var note: String?

  /// Whether its columns are numbers of clients, which `Chart` draws.
  var isDrawn = false

  let measure: () -> Columns

  /// The table for a terminal, in columns of equal width.
  func text(_ measured: Columns) -> String {
    let cells = measured.map { column in
      let base = baseline.flatMap { column[$0]?.best }
      return column.map { $0.map { text($0, base) } ?? "–" }
    }
    let texts = zip([""] + columns, [rows] + cells).map { [$0] + $1 }
    let widths = texts.map { $0.map(\.count).max() ?? 0 }
    let grid = (0...rows.count).map { line in
      "  " + texts[0][line].padding(toLength: widths[0], withPad: " ", startingAt: 0)
        + zip(texts, widths).dropFirst().map { "   " + padded($0[line], $1) }.joined()
    }
    return ([title + ", " + unit] + grid + [note].compactMap(\.self)).joined(separator: "\n") + "\n"
  }

  /// Returns the best measurement, with its ratio to the baseline's or with the median.
  private func text(_ cell: Measurement, _ base: Double?) -> String {
    let (best, median) = (digits(cell.best), digits(cell.median))
    guard let base, base > 0 else { return best == median ? best : "\(best) (\(median))" }
    let ratio = cell.best / base
    return best + padded("×" + (ratio < 9.995 ? String(format: "%.2f", ratio) : digits(ratio)), 7)
  }
}

/// Returns the rows of a table as columns.
func transposed<Cell>(_ rows: [[Cell]]) -> [[Cell]] {
  rows[0].indices.map { column in rows.map { $0[column] } }
}

private func padded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Formats a number with about three significant digits.
func digits(_ value: Double) -> String {
  switch value {
  case ..<10: String(format: "%.2f", value)
  case ..<100: String(format: "%.1f", value)
  default: grouped(Int(value.rounded()))
  }
}

/// Formats a natural number, with a comma for every three digits.
func grouped(_ number: Int) -> String {
  number < 1_000
    ? "\(number)" : grouped(number / 1_000) + "," + String(format: "%03d", number % 1_000)
}

extension Lab {
  /// All tables, in the order in which they are printed.
  var tables: [Table] {
    [
      delivery, fixedCost, membership, memory, million,
      late("a serial queue", .queue(Contender.late), Contender.toQueue),
      late("the main actor", .mainActor, Contender.toMainActor),
    ]
  }

  /// The comparison: every system, at every number of clients.
  private var delivery: Table {
    let counts = [0, 1, 8, 100, 1_000, 10_000]
    let titles = Contender.all.map(\.title)
    return Table(
      title: "Time per delivery", unit: "nanoseconds, and × Multicast's",
      columns: counts.map(grouped), rows: titles,
      baseline: titles.firstIndex(of: Contender.multicast.title),
      note: "With 0 clients: time per event, which calls no client.", isDrawn: true
    ) {
      // Each system has its own clients. Those of a strong loop have no weak references, because a weak reference makes
      // every retain and release more expensive.
      counts.map { count in byTurns(Contender.all.map { Trial($0, clientCount: count) }) }
    }
  }

  /// The cost of a notify beyond its deliveries.
  private var fixedCost: Table {
    let contenders: [Contender] = [
      .multicast, .multicastOpaque, .delegate, .topic, .post, .postAtHome,
    ]
    return Table(
      title: "Fixed cost of a notify", unit: "nanoseconds: best (median)",
      columns: ["no client", "1 client", "each further", "fixed", "in locks"],
      rows: (contenders + [.lock]).map(\.title),
      note: "Fixed: the time with 1 client, less that of a further one."
    ) {
      let trials = contenders.flatMap { contender in
        [0, 1, 101].map { Trial(contender, clientCount: $0) }
      }
      let measured = byTurns(trials + [Trial(.lock, clientCount: 0)], rounds: 2 * rounds)
      let lock = measured[trials.count]
      let rows = contenders.indices.map { index -> [Measurement?] in
        let (none, one) = (measured[3 * index], measured[3 * index + 1])
        let further = (measured[3 * index + 2].best * 101 - one.best) / 100
        let fixed = one.best - further
        return [none, one] + [further, fixed, fixed / lock.best].map { Measurement(exactly: $0) }
      }
      return transposed(rows + [[lock, nil, nil, nil, nil]])
    }
  }

  /// Shows whether the time per client stays the same with a million clients.
  private var million: Table {
    let contenders: [Contender] = [.strongLoop, .weakLoop, .multicast, .multicastOpaque]
    return Table(
      title: "Time per delivery to a million clients", unit: "nanoseconds: best (median)",
      columns: ["1,000", "1,000,000", "growth", "1,000,000 scattered", "growth"],
      rows: contenders.map(\.title),
      note: """
        Scattered: the clients stand in the list in another order than in memory, so that none of
        them is in a cache when its turn comes. What the strong loop loses by that, all lose.
        """
    ) {
      func measure(_ count: Int, scattered: Bool = false) -> [Measurement] {
        byTurns(
          contenders.map { Trial($0, clientCount: count, scattered: scattered) },
          rounds: max(3, rounds / 2))
      }
      let few = measure(1_000)
      func withGrowth(_ many: [Measurement]) -> Table.Columns {
        [many, zip(many, few).map { Measurement(exactly: $0.best / $1.best) }]
      }
      return [few] + withGrowth(measure(1_000_000))
        + withGrowth(measure(1_000_000, scattered: true))
    }
  }

  /// The time to call handlers elsewhere, from another thread.
  private func late(_ home: String, _ place: Place, _ contenders: [Contender]) -> Table {
    let counts = [1, 16, 256]
    return Table(
      title: "Late delivery to \(home)",
      unit: "nanoseconds per message and handler, and × the first row's",
      columns: counts.map { $0 == 1 ? "1 handler" : "\($0) handlers" },
      rows: contenders.map(\.title), baseline: 0,
      note: "From another thread, until the last handler has had the last message."
    ) {
      onAnotherThread {
        counts.map { count in
          // Longer than elsewhere, because waking a thread once must not count.
          byTurns(contenders.map { Trial($0, clientCount: count, late: place) }, time: 4)
        }
      }
    }
  }

  /// A table of lists of many clients.
  func ofLists(
    _ title: String, _ unit: String, rows: [String], note: String? = nil,
    measure: @escaping (_ clientCount: Int) -> [Measurement]
  ) -> Table {
    let counts = isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000]
    return Table(
      title: title, unit: unit, columns: counts.map { grouped($0) + " clients" }, rows: rows,
      note: note
    ) { counts.map(measure) }
  }

  /// The memory of one registration, including what the runtime allocates for an object with weak references. The
  /// objects themselves are not included.
  private var memory: Table {
    // Each client has one registration, so batches are the same as single events.
    let contenders = (Contender.all + [.postAtHome]).filter {
      !$0.title.contains("forEach") && !$0.title.contains("userInfo")
    }
    return ofLists(
      "Memory per registration", "bytes, as the allocator counts them",
      rows: contenders.map(\.title)
    ) { count in
      let samplers = contenders.map { contender in
        {
          let clients = makeClients(count)
          let before = bytesInUse()
          let send = contender.make(clients)
          send(1)
          defer { extendLifetime((clients, send)) }
          return [(bytesInUse() - before) / Double(count)]
        }
      }
      // The median, because earlier work may release its memory meanwhile.
      return byTurns(samplers, rounds: 3).map { Measurement(exactly: $0[0].median) }
    }
  }
}

/// The number of bytes that the process has allocated, including the allocator's overhead for each block.
private func bytesInUse() -> Double {
  var bytes = allocator_bytes_in_use()
  // Cancelled tasks end some time later, and release their memory then.
  for _ in 0..<100 {
    Thread.sleep(forTimeInterval: 0.002)
    let later = allocator_bytes_in_use()
    if later == bytes { break }
    bytes = later
  }
  return Double(bytes)
}

/// Runs a closure on another thread. Meanwhile the main thread, which must call this, does the main actor's work.
private func onAnotherThread<Result: Sendable>(
  _ work: @escaping @Sendable () -> Result
) -> Result {
  let outcome = Mutex<Result?>(nil)
  Thread.detachNewThread {
    let result = work()
    outcome.withLock { $0 = result }
    // Wakes the main thread.
    DispatchQueue.main.async {}
  }
  while true {
    if let result = outcome.withLock({ $0 }) { return result }
    _ = RunLoop.main.run(mode: .default, before: .distantFuture)
  }
}
