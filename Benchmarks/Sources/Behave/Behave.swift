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

    Scenarios: \(Scenario.all.map(\.name).joined(separator: ", "))
    Systems: \(System.all.map(\.name).joined(separator: ", "))

    """

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.isEmpty {
      try Report.write()
    } else if arguments.count == 2,
      let scenario = Scenario.all.first(where: { $0.name == arguments[0] }),
      let system = System.all.first(where: { $0.name == arguments[1] })
    {
      let system = system.make(scenario.name == "latest")
      let outcome = try await scenario.play(Stage(system)) ?? Outcome("–", .min)
      print("\(outcome.text)\n> score \(outcome.score)")
    } else {
      FileHandle.standardError.write(Data(usage.utf8))
      // EX_USAGE of sysexits.h.
      exit(64)
    }
  }
}

/// The table. Each cell is played in a process of its own, which may crash or hang.
@available(macOS 26, *)
enum Report {
  /// How many seconds a cell may take.
  private static let limit = 10

  static func write() throws {
    let titles = System.all.map { "\($0.title)<br>`\($0.name)`" }
    print(
      """
      # What happens

      What the program `Behave` printed. Each cell is what happened when a scenario was played with a system, each
      time in a process of its own with a limit of 10 seconds. All were played ten times, but for the loop, the
      memory and the struct. Outcomes that differ are counted. "–" means that the scenario cannot be written with
      that system. **Better** marks a cell that does better than both of Multicast's.

      To play one again, give the names of its row and its column:

      ```sh
      swift run -c release --package-path Benchmarks Behave order notification
      swift run -c release --package-path Benchmarks Behave > Benchmarks/behaviour.md  # all of them
      ```

      | | \(titles.joined(separator: " | ")) |
      | --- |\(String(repeating: " --- |", count: titles.count))
      """)
    for scenario in Scenario.all {
      FileHandle.standardError.write(Data("\(scenario.name)\n".utf8))
      let outcomes = try System.all.map { try run(scenario, $0.name) }
      let ours = max(outcomes[0].score, outcomes[1].score)
      let cells = outcomes.map { ($0.score > ours ? "**better:** " : "") + $0.text }
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
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(limit), execute: timer)
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
    case (.uncaughtSignal, SIGKILL):
      return Outcome("goes on after \(limit) s\(progress)", -1)
    case (_, let status):
      let reason = message.map { "stops the program: \($0)" } ?? "crash, signal \(status)"
      return Outcome(reason.replacing("|", with: "\\|") + progress, 0)
    }
  }

  private static func text(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
