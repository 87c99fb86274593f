import Dispatch
import Foundation
import Systems

@main
enum Compare {
  private static let usage = """
    Usage: Compare [--quick] [--filter TEXT] [--svg FILE]

    Measures Multicast and other systems by turns, in one run.

      --quick        Measure less: ends within 20 seconds, with more noise.
      --filter TEXT  Only tables whose title contains TEXT, in upper or lower case.
      --svg FILE     Draw the time per delivery over the number of clients in FILE.

    """

  static func main() throws {
    var (isQuick, filter, svgFile) = (false, String?.none, String?.none)
    var arguments = CommandLine.arguments.dropFirst()
    func next() -> String {
      guard let argument = arguments.popFirst() else { fail() }
      return argument
    }
    while let argument = arguments.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--filter": filter = next()
      case "--svg": svgFile = next()
      default: fail()
      }
    }
    for table in Lab(isQuick: isQuick).tables {
      guard filter.map(table.title.localizedCaseInsensitiveContains) ?? true else { continue }
      FileHandle.standardError.write(Data("\(table.title)\n".utf8))
      let columns = table.measure()
      print(table.text(columns))
      if let file = svgFile, table.isDrawn {
        try Chart(table, columns).svg.write(toFile: file, atomically: true, encoding: .utf8)
      }
    }
  }

  private static func fail() -> Never {
    FileHandle.standardError.write(Data(usage.utf8))
    // EX_USAGE of sysexits.h.
    exit(64)
  }
}

/// The settings with which every table is made.
struct Lab: Sendable {
  let isQuick: Bool

  /// The number of rounds. Each one measures everything once.
  var rounds: Int { isQuick ? 3 : 15 }

  /// How long one measurement should take, in nanoseconds.
  var sampleTime: Double { isQuick ? 5e5 : 5e6 }
}

// MARK: - Rounds

/// Measures one or several operations once, in nanoseconds.
typealias Sampler = () -> [Double]

extension Lab {
  /// Measures all samplers in turns, each round in another order, so that a disturbance of the machine affects all of
  /// them. Returns the measurements of each.
  func byTurns(_ samplers: [Sampler], rounds: Int? = nil) -> [[Measurement]] {
    var samples = samplers.map { _ in [[Double]]() }
    for round in 0..<(rounds ?? self.rounds) {
      for turn in samplers.indices {
        let index = (turn + round) % samplers.count
        samples[index].append(samplers[index]())
      }
    }
    return samples.map { rounds in
      rounds[0].indices.map { number in Measurement(rounds.map { $0[number] }) }
    }
  }

  /// Measures trials in the same way, and checks that all of them have delivered all events. Returns the time for each
  /// client.
  ///
  /// - Parameter time: The factor by which a measurement takes longer than usual.
  func byTurns(_ trials: [Trial], time: Double = 1, rounds: Int? = nil) -> [Measurement] {
    defer { for trial in trials { trial.check() } }
    let samplers = trials.map { trial in
      let sampler = repeating(step: trial.step, time: time, trial.send)
      return { sampler().map { $0 / Double(max(1, trial.clients.count)) } }
    }
    return byTurns(samplers, rounds: rounds).map { $0[0] }
  }

  /// Returns a sampler that repeats its work as often as fits into the time of a measurement, in multiples of the step.
  func repeating(
    step: Int = 1, time: Double = 1, _ run: @escaping (_ count: Int) -> Void
  ) -> Sampler {
    let wanted = time * sampleTime
    var (count, time) = (step, stopwatch { run(step) })
    // Doubles the count until a measurement is long enough to judge by. This also warms up.
    while time < wanted / 4, count < 1 << 30 {
      count *= 2
      time = stopwatch { run(count) }
    }
    let chosen = max(1, Int(Double(count) * wanted / max(time, 1) / Double(step))) * step
    return { [stopwatch { run(chosen) } / Double(chosen)] }
  }
}

/// Returns the nanoseconds that `work` takes.
func stopwatch(_ work: () -> Void) -> Double {
  let begin = DispatchTime.now().uptimeNanoseconds
  work()
  return Double(DispatchTime.now().uptimeNanoseconds - begin)
}

// MARK: - Trials

/// A contender and its clients.
final class Trial {
  let step: Int
  let clients: [any Client]
  private let title: String
  private let deliver: Contender.Send
  private var events = 0

  /// - Parameters:
  ///   - scattered: Whether the order of the clients in the list differs from their order in memory.
  ///   - late: Where clients are called later. A delivery ends when the last client has received the last event.
  init(_ contender: Contender, clientCount: Int, scattered: Bool = false, late: Place? = nil) {
    let countdown = Countdown()
    var clients =
      late.map { makeClients(clientCount, at: $0, countdown) } ?? makeClients(clientCount)
    if scattered { clients.shuffle() }
    (self.clients, title, step) = (clients, contender.title, contender.step(clientCount))
    let send = contender.make(clients)
    deliver =
      late == nil
      ? send : { count in countdown.wait(for: 0..<count, clients: clientCount) { send(count) } }
  }

  func send(_ count: Int) {
    deliver(count)
    events += count
  }

  /// Stops the program unless every client has received every event, because a system that delivers fewer events is not
  /// faster.
  func check() {
    for client in clients {
      precondition(client.calls == events, "\(title): \(client.calls) of \(events) events arrived")
    }
  }
}
