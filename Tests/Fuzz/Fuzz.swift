import CoreModel
import Foundation

/// The program.
@main
enum Fuzz {
  static func main() {
    do throws(Arguments.UsageError) {
      switch try Arguments(CommandLine.arguments.dropFirst()) {
      case .fuzz(let duration, let seed): fuzz(for: duration, seed: seed)
      case .posts(let duration, let seed, let programs, let excluded):
        runPrograms(for: duration, seed: seed, upTo: programs, without: excluded)
      case .topics(let duration, let seed, let excluded):
        stressTopics(for: duration, seed: seed, moves: !excluded.contains(.moving))
      case .repeat(let input):
        check(input)
        print("No difference")
      case .help: print(Arguments.usage)
      }
    } catch {
      let message = "Fuzz: error: \(error.problem)\n\n\(Arguments.usage)\n"
      FileHandle.standardError.write(Data(message.utf8))
      // 64 is what sysexits.h calls a usage error.
      exit(64)
    }
  }

  private static func fuzz(for duration: Duration, seed: UInt64) {
    // Said first: it is all there is, if the delegate brings the program down.
    print("Seed \(seed)")
    fflush(nil)
    var generator = SeededGenerator(seed: seed)
    let end = ContinuousClock.now + duration
    var inputs = 0
    var bytes = 0
    while ContinuousClock.now < end {
      let input = Input.random(using: &generator)
      check(input)
      inputs += 1
      bytes += input.bytes.count
    }
    print("\(inputs) inputs of \(bytes) bytes: no difference")
  }

  private static func runPrograms(
    for duration: Duration, seed: UInt64, upTo limit: Int,
    without excluded: Set<PostProgram.Feature>
  ) {
    print("Seed \(seed)")
    fflush(nil)
    let end = ContinuousClock.now + duration
    var seed = seed
    var programs = 0
    while ContinuousClock.now < end, programs < limit {
      let program = PostProgram(seed: seed, without: excluded)
      let faults = program.run()
      programs += 1
      guard faults.isEmpty else {
        let options = excluded.map { " --without \($0)" }.sorted().joined()
        print(
          """
          Program \(programs) is wrong:
          \(faults.prefix(20).map { "  " + $0 }.joined(separator: "\n"))
          It has \(program.features.map(\.rawValue).sorted().joined(separator: ", ")).
          To repeat this: swift run Fuzz --posts --seed \(seed)\(options) --programs 1
          """)
        exit(1)
      }
      seed &+= 1
    }
    print("\(programs) programs: nothing wrong")
  }

  private static func stressTopics(for duration: Duration, seed: UInt64, moves: Bool) {
    print("Seed \(seed)")
    fflush(nil)
    let stress = TopicStress(seed: seed, moves: moves)
    stress.run(for: duration)
    guard stress.faults.isEmpty else {
      print(
        """
        The topics are wrong:
        \(stress.faults.prefix(20).map { "  " + $0 }.joined(separator: "\n"))
        To repeat this, as far as threads allow: swift run Fuzz --topics --seed \(seed)\(moves ? "" : " --without moving")
        """)
      exit(1)
    }
    print(stress.summary)
  }

  private static func check(_ input: Input) {
    guard input.mismatch() != nil else { return }
    let shortest = input.reduced()
    let reason = shortest.mismatch()?.description ?? "nothing any more"
    print(
      """
      The delegate differs from its model in \(reason).
      To repeat this: swift run Fuzz --bytes \(shortest)
      """)
    exit(1)
  }
}

extension Input {
  /// Mostly short, so that a difference is found with little around it.
  fileprivate static func random(using generator: inout some RandomNumberGenerator) -> Input {
    let longest = [20, 200, 2000].randomElement(using: &generator) ?? 20
    let count = Int.random(in: 2...longest, using: &generator)
    return Input(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }
}

/// Calls `body` on a thread of its own, which is in the group until it ends.
func onThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
  group.enter()
  Thread {
    body()
    group.leave()
  }.start()
}
