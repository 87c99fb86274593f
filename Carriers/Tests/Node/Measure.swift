import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import Synchronization

private struct Price: Codable, Sendable {
  let name: String
  let number: Int
}

extension Topic where Message == Price {
  fileprivate static var price: Self { Topic("price") }
}

/// Counts what arrives, and notes when. Nobody is woken before the last one.
private final class Received: Sendable {
  private struct State {
    var count = 0
    var last = ContinuousClock.now
    var goal = Int.max
    var end: CheckedContinuation<ContinuousClock.Instant, Never>?
  }
  private let state = Mutex(State())

  var count: Int { state.withLock { $0.count } }

  func add() {
    let now = ContinuousClock.now
    let end = state.withLock { state in
      (state.count, state.last) = (state.count + 1, now)
      return state.count == state.goal ? state.end.take() : nil
    }
    end?.resume(returning: now)
  }

  /// Returns when the last one has come.
  func reaches(_ goal: Int) async -> ContinuousClock.Instant {
    await withCheckedContinuation { end in
      let last: ContinuousClock.Instant? = state.withLock { state in
        if state.count >= goal { return state.last }
        (state.goal, state.end) = (goal, end)
        return nil
      }
      if let last { end.resume(returning: last) }
    }
  }
}

/// What a message costs: one center posts and three receive, each with a carriage of its own, in this process.
func measure(_ name: String, _ carrier: () throws -> any Carrier) async throws {
  var (centers, carriages, received): ([MulticastCenter], [Carriage], [Received]) = ([], [], [])
  for number in 0..<4 {
    let center = MulticastCenter(carrying: .carriage)
    let carriage = Carriage(center: center, carrier: try carrier(), name: "site \(number)")
    carriage.carry(.price, as: "price")
    let own = Received()
    center.observe(.price, owner: own) { own, _ in own.add() }
    centers.append(center)
    carriages.append(carriage)
    received.append(own)
  }
  let tasks = carriages.map { carriage in Task { await carriage.run() } }
  while received.contains(where: { $0.count < 10 }) {
    centers[0].post(.price, Price(name: "warm", number: 0))
    try await Task.sleep(for: .milliseconds(20))
  }
  try await Task.sleep(for: .seconds(1))
  let late = received.map { received[0].count - $0.count }

  func all() async {
    for (index, other) in received.enumerated() where index > 0 {
      _ = await other.reaches(received[0].count - late[index])
    }
  }
  for (pace, burst, pause, count) in [
    ("200 each 20 ms", 200, 20, 20_000), ("8,000 at once", 8_000, 0, 8_000),
    ("one each ms", 1, 1, 3_000),
  ] {
    let (start, engine) = (processorTime, engineTime)
    for number in 1...count {
      centers[0].post(.price, Price(name: "a price of something", number: number))
      if pause > 0, number % burst == 0 { try await Task.sleep(for: .milliseconds(pause)) }
    }
    await all()
    let (own, its) = (processorTime - start, engineTime - engine)
    print(
      String(
        format: "MEASURED %@, %@: %.1f µs of processor time for a message, and %.1f of the engine",
        name, pace, own / Double(count), its / Double(count)))
  }
  var times: [Duration] = []
  for number in 0..<3_000 {
    let start = ContinuousClock.now
    centers[0].post(.price, Price(name: "a price of something", number: number))
    times.append(await received[1].reaches(received[0].count - late[1]) - start)
    await all()
    try await Task.sleep(for: .milliseconds(1))
  }
  times.sort()
  let microseconds = [1_500, 2_970].map { Int(times[$0] / .microseconds(1)) }
  print("MEASURED \(name), one alone: p50 \(microseconds[0]) µs, p99 \(microseconds[1]) µs")
  for task in tasks { task.cancel() }
  for task in tasks { await task.value }
}

/// Of this process, in microseconds.
private var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) * 1e6 }

/// Of the programs that this process has started, in microseconds; 0 where the system does not tell.
private var engineTime: Double {
  let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return all.filter { Int($0) != nil }.reduce(0) { sum, process in
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    // Behind the name: the state, the parent, …, and the user's and the system's time as the 12th and 13th.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, Int32(fields[1]) == getpid() else { return sum }
    return sum + ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) * 10_000
  }
}
