import Dispatch
import Foundation

@main
@available(macOS 26, *)
enum Program {
  static let usage = """
    Usage: Behave [SCENARIO SYSTEM]

    Prints a table of what happens when listeners and senders do what the contract speaks of, with
    Multicast and with what would be used instead. With two names, it plays one scenario with one
    system in this process, and prints that cell of the table.


    """

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.isEmpty {
      try Report.write()
    } else if arguments.count == 2,
      let scenario = Scenario.all.first(where: { $0.name == arguments[0] }),
      let system = System.all.first(where: { $0.name == arguments[1] })
    {
      let system = system.make(scenario.name == Scenario.latest.name)
      let outcome = try await scenario.play(Stage(system)) ?? Outcome("–", .min)
      print("\(outcome.text)\n> score \(outcome.score)")
    } else {
      let names =
        "Scenarios: \(Scenario.all.map(\.name).joined(separator: ", "))\n"
        + "Systems: \(System.all.map(\.name).joined(separator: ", "))\n"
      FileHandle.standardError.write(Data((usage + names).utf8))
      // EX_USAGE of sysexits.h.
      exit(arguments == ["--help"] ? 0 : 64)
    }
  }
}

/// How far a scenario has come, for one that does not end by itself.
enum Progress {
  static func report(_ text: String) { FileHandle.standardOutput.write(Data("> \(text)\n".utf8)) }
}

/// The table. Each cell is played in a process of its own, which may crash or hang.
@available(macOS 26, *)
enum Report {
  /// How long a cell may take.
  private static let limit = DispatchTimeInterval.seconds(10)

  static func write() throws {
    print("# What happens", terminator: "\n\n")
    print(
      """
      What the program `Behave` printed. Each cell is what happened when a scenario was played with a system, each
      time in a process of its own with a limit of 10 seconds. All were played ten times, but for the loop, the
      memory and the struct. Outcomes that differ are counted. "–" means that the scenario cannot be written with
      that system. **Better** marks a cell that does better than both of Multicast's.

      To play one again, give the names of its row and its column:

      ```sh
      swift run -c release --package-path Benchmarks Behave order notification
      swift run -c release --package-path Benchmarks Behave > Benchmarks/behaviour.md  # all of them
      ```

      """)
    let titles = System.all.map { "\($0.title)<br>`\($0.name)`" }
    print("| | " + titles.joined(separator: " | ") + " |")
    print("| --- |" + String(repeating: " --- |", count: titles.count))
    for scenario in Scenario.all {
      var outcomes: [Outcome] = []
      for system in System.all {
        FileHandle.standardError.write(Data("\(scenario.name) \(system.name)\n".utf8))
        outcomes.append(try run(scenario, system.name))
      }
      let ours = outcomes[..<2].map(\.score).max() ?? 0
      let cells = outcomes.enumerated().map { index, outcome in
        index > 1 && outcome.score > ours ? "**better:** \(outcome.text)" : outcome.text
      }
      print("| \(scenario.title)<br>`\(scenario.name)` | " + cells.joined(separator: " | ") + " |")
    }
  }

  /// Plays a scenario with a system as often as the table asks for.
  private static func run(_ scenario: Scenario, _ system: String) throws -> Outcome {
    var counts: [String: Int] = [:]
    var worst = Int.max
    for _ in 0..<scenario.runs {
      let outcome = try runOnce(scenario.name, system)
      counts[outcome.text, default: 0] += 1
      worst = min(worst, outcome.score)
      if outcome.score == .min { return outcome }
    }
    let outcomes = counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
    if outcomes.count == 1 { return Outcome(outcomes[0].key, worst) }
    let texts = outcomes.prefix(2).map { "\($0.key) (\($0.value) of \(scenario.runs))" }
    let more = outcomes.count > 2 ? "; and \(outcomes.count - 2) more" : ""
    return Outcome(texts.joined(separator: "; ") + more, worst)
  }

  /// Plays a scenario with a system in another process.
  private static func runOnce(_ scenario: String, _ system: String) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = [scenario, system]
    // A crash is to be fast, and says enough without a backtrace.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let number = process.processIdentifier
    let timer = DispatchWorkItem { kill(number, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: timer)
    let lines = text(output).split(separator: "\n")
    // The first sentence of what the program says as it stops.
    let message = text(errors).components(separatedBy: "Fatal error: ").dropFirst().first?
      .components(separatedBy: ". ").first
    process.waitUntilExit()
    timer.cancel()
    let progress = lines.last { $0.hasPrefix("> ") }.map { ", \($0.dropFirst(2))" } ?? ""
    switch (process.terminationReason, process.terminationStatus) {
    case (.exit, 0):
      let score = lines.last.flatMap { Int($0.dropFirst("> score ".count)) }
      return Outcome(lines.last { !$0.hasPrefix("> ") }.map(String.init) ?? "", score ?? .min)
    case (.uncaughtSignal, SIGKILL): return Outcome("goes on after 10 s\(progress)", -1)
    case (_, let status):
      let reason = message.map { "stops the program: \($0)" } ?? "crash, signal \(status)"
      return Outcome(reason.replacing("|", with: "\\|") + progress, 0)
    }
  }

  private static func text(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
