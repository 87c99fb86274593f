import CoreModel
import Foundation

/// Compares delegates with their model, runs random programs of posts, or stresses topics.
@main
enum Fuzz {
  private static let usage = """
    Usage: Fuzz [--delegates | --posts | --topics] [--seconds N] [--seed N]
           Fuzz --bytes DIGITS

    With --delegates, or without a kind, compares a delegate with a model of it that is too simple to be
    wrong, after each of many random operations. Shows the shortest bytes it could find that lead to a
    difference.

    With --topics, several threads observe, replace, remove and post continuously. With --posts, random
    programs of clients and handlers that post run on several threads, in several homes. A seed repeats
    everything except the timing of the threads.

    Exits with status 1 at the first fault.

      --seconds N     Run for N seconds. The default is 10.
      --seed N        Start with this seed, to repeat another run.
      --bytes DIGITS  Perform the operations of these bytes, in hexadecimal.
    """

  static func main() {
    var seconds = 10
    var seed = UInt64.random(in: 0...UInt64.max)
    var kind = "--delegates"
    var arguments = CommandLine.arguments.dropFirst()
    while let option = arguments.popFirst() {
      if ["--delegates", "--posts", "--topics"].contains(option) {
        kind = option
        continue
      }
      let value = arguments.popFirst() ?? ""
      if option == "--seconds", let number = Int(value), number > 0 {
        seconds = number
      } else if option == "--seed", let number = UInt64(value) {
        seed = number
      } else if option == "--bytes", let input = Input(value) {
        check(input)
        return print("No difference")
      } else {
        // 64 is what sysexits.h calls a usage error.
        fail("Cannot understand: \(option) \(value)\n\n\(usage)", status: 64)
      }
    }
    // Print the seed first, because nothing else is printed if the delegate crashes the program.
    print("Seed \(seed)")
    fflush(nil)
    let end = DispatchTime.now() + .seconds(seconds)
    switch kind {
    case "--posts": runPrograms(until: end, seed: seed)
    case "--topics": stressTopics(until: end, seed: seed)
    default: compareDelegates(until: end, seed: seed)
    }
  }

  private static func compareDelegates(until end: DispatchTime, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var inputs = 0
    var bytes = 0
    while DispatchTime.now() < end {
      // Most inputs are short, because a difference is easier to understand in a short one.
      let longest = [20, 200, 2000].randomElement(using: &generator) ?? 20
      let count = Int.random(in: 2...longest, using: &generator)
      check(Input(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
      inputs += 1
      bytes += count
    }
    print("\(inputs) inputs of \(bytes) bytes: no difference")
  }

  private static func check(_ input: Input) {
    guard input.mismatch() != nil else { return }
    let shortest = input.reduced()
    let reason = shortest.mismatch()?.description ?? "nothing, in the reduced input"
    fail(
      """
      The delegate differs from its model in \(reason).
      To repeat this: swift run Fuzz --bytes \(shortest)
      """)
  }

  private static func runPrograms(until end: DispatchTime, seed: UInt64) {
    var programs: UInt64 = 0
    while DispatchTime.now() < end {
      let program = PostProgram(seed: seed &+ programs)
      let faults = program.run()
      programs += 1
      guard faults.isEmpty else {
        fail(
          """
          Program \(programs) is wrong:
          \(list(faults))
          It uses \(program.features.map(\.rawValue).sorted().joined(separator: ", ")).
          To start with it: swift run Fuzz --posts --seed \(program.seed)
          """)
      }
    }
    print("\(programs) programs: nothing wrong")
  }

  private static func stressTopics(until end: DispatchTime, seed: UInt64) {
    let stress = TopicStress(seed: seed)
    stress.run(until: end)
    guard stress.faults.isEmpty else {
      fail(
        """
        The topics are wrong:
        \(list(stress.faults))
        To repeat this, as far as threads allow: swift run Fuzz --topics --seed \(seed)
        """)
    }
    print(stress.summary)
  }

  private static func list(_ faults: [String]) -> String {
    faults.prefix(20).map { "  " + $0 }.joined(separator: "\n")
  }

  private static func fail(_ text: String, status: Int32 = 1) -> Never {
    print(text)
    exit(status)
  }
}
