import Glibc
import MulticastPlatform

/// A random program that runs in many schedules. Only the thread that has the baton uses its variables.
class Program: @unchecked Sendable {
  class var operations: [String] { [] }

  let seed: UInt64
  var generator: SeededGenerator
  private(set) var faults: [String] = []
  private var time = 0
  private let lock = UnsafeMutablePointer<multicast_lock>.allocate(capacity: 1)

  /// Prepares the program before its threads begin.
  required init(seed: UInt64) {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    lock.initialize(to: multicast_lock())
  }

  deinit { lock.deallocate() }

  /// Orders `body` after all bodies of earlier calls of this function. Without it, a thread may not have learned of the operations
  /// of another one.
  func synchronized<Result>(_ body: () -> Result) -> Result {
    multicast_acquire(lock)
    defer { multicast_release(lock) }
    return body()
  }

  /// Performs one operation of a thread.
  func perform(_ operation: String, _ random: inout SeededGenerator) {}

  /// Checks what must hold after all threads have ended.
  func finish() {}

  func fault(_ text: String) { faults.append(text) }

  func tick() -> Int {
    time += 1
    return time
  }
}

/// The operations of a program. Leaving one out does not change the others.
struct Plan {
  struct Operation {
    let thread: Int
    let name: String
    let seed: UInt64
  }

  static let kinds: [String: Program.Type] = [
    "lists": ListProgram.self, "registry": RegistryProgram.self,
    "handlers": HandlerProgram.self, "posts": PostProgram.self,
    "orders": OrderProgram.self,
  ]

  let kind: String
  let seed: UInt64
  var operations: [Operation] = []
  var kept: [Int]

  init(_ kind: String, seed: UInt64, keeping kept: [Int]? = nil) {
    self.kind = kind
    self.seed = seed
    let names = Self.kinds[kind]!.operations
    var generator = SeededGenerator(seed: ~seed)
    for thread in 0..<Int.random(in: 2...4, using: &generator) {
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        operations.append(
          Operation(
            thread: thread, name: names.randomElement(using: &generator)!, seed: generator.next()))
      }
    }
    self.kept = kept ?? Array(operations.indices)
  }

  /// Runs the program in some schedules. Ends the process with status 1 at the first fault.
  func run(schedules: Int) {
    for schedule in 0..<schedules {
      simulation_begin(seed &* 1_000_003 &+ UInt64(schedule))
      let program = Self.kinds[kind]!.init(seed: seed)
      for operations in Dictionary(grouping: kept.map { operations[$0] }, by: \.thread)
        .sorted(by: { $0.key < $1.key })
      {
        spawn {
          for operation in operations.value {
            var random = SeededGenerator(seed: operation.seed)
            program.perform(operation.name, &random)
          }
        }
      }
      simulation_run()
      program.finish()
      if program.faults.isEmpty { continue }
      simulation_fail(
        "In schedule \(schedule):\n" + program.faults.prefix(5).joined(separator: "\n"))
    }
  }
}

extension Plan: CustomStringConvertible {
  var description: String {
    let lines = kept.map { "  \($0): thread \(operations[$0].thread) \(operations[$0].name)" }
    return (["program \(seed) of \(kind):"] + lines).joined(separator: "\n")
  }
}

@main
enum Simulate {
  // `main` writes these before it starts the first process, and from then on they are only read.
  nonisolated(unsafe) private static var (kind, seed, programs) = ("", UInt64(1), 100)
  nonisolated(unsafe) private static var (schedules, seconds) = (10, Double.infinity)
  nonisolated(unsafe) private static var kept: [Int]?

  static func main() {
    simulation_fix_addresses(CommandLine.unsafeArgv)
    var arguments = CommandLine.arguments.dropFirst()
    while let option = arguments.popFirst() {
      if Plan.kinds[option] != nil {
        kind = option
      } else if let value = arguments.popFirst() {
        switch option {
        case "--seed": seed = UInt64(value)!
        case "--programs": programs = Int(value)!
        case "--schedules": schedules = Int(value)!
        case "--seconds": (seconds, programs) = (Double(value)!, .max)
        case "--keep": kept = value.split(separator: ",").map { Int($0)! }
        default: usage()
        }
      }
    }
    guard Plan.kinds[kind] != nil else { usage() }
    search()
  }

  static func usage() -> Never {
    print(
      """
      usage: simulate (\(Plan.kinds.keys.sorted().joined(separator: " | "))) [--seed N]
        [--programs N | --seconds N] [--schedules N] [--keep OPERATION,...]
      """)
    exit(64)
  }

  /// Runs programs, one on each processor, until one fails. Allocates nothing meanwhile, so that each program begins with the same
  /// memory.
  static func search() {
    let begin = multicast_now()
    var running = Array(
      repeating: (process: Int32(0), seed: UInt64(0)), count: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    var (begun, ended, status) = (0, 0, Int32(0))
    while true {
      for place in running.indices where running[place].process == 0 && begun < programs {
        if Double(multicast_now() - begin) / 1e9 > seconds { break }
        running[place] = (start(seed &+ UInt64(begun), on: Int32(place)), seed &+ UInt64(begun))
        if running[place].process < 0 {
          print("No process can be started (\(String(cString: strerror(errno)))).")
          exit(2)
        }
        begun += 1
      }
      let process = simulation_wait(-1, &status)
      guard process > 0, let place = running.firstIndex(where: { $0.process == process }) else {
        break
      }
      running[place].process = 0
      ended += 1
      if status != 0 {
        report(running[place].seed, status, after: Double(multicast_now() - begin) / 1e9)
      }
    }
    let rate = Int(Double(ended * schedules) * 1e9 / Double(multicast_now() - begin))
    print("\(kind): \(ended) programs, \(ended * schedules) schedules, \(rate) a second: no fault")
  }

  /// Runs a program in its own process.
  private static func start(_ seed: UInt64, on processor: Int32) -> Int32 {
    simulation_fork(
      { context in
        SimulatedMain.begin()
        // Initialize these first, because no simulated thread may wait while the runtime initializes them.
        extendLifetime((MarkedQueue.main, MainActor.shared, AwaitedCall.current))
        let plan = Plan(
          Simulate.kind, seed: UInt64(UInt(bitPattern: context)), keeping: Simulate.kept)
        plan.run(schedules: Simulate.schedules)
      }, UnsafeMutableRawPointer(bitPattern: UInt(seed))!, 20, processor)
  }

  private static func report(_ seed: UInt64, _ status: Int32, after seconds: Double) -> Never {
    print("\(kind) found a fault after \(seconds) s, in program \(seed), status \(status)")
    if getenv("BRIEFLY") != nil || kept != nil { exit(1) }
    fflush(nil)
    // Leaves out the operations without which it still fails, in processes that begin in the same way.
    var plan = Plan(kind, seed: seed)
    func command(_ plan: Plan) -> String {
      let kept = plan.kept.map(String.init).joined(separator: ",")
      return
        "\(CommandLine.arguments[0]) \(kind) --seed \(seed) --programs 1 --schedules 500 --keep \(kept)"
    }
    for operation in plan.kept.reversed() {
      var smaller = plan
      smaller.kept.removeAll { $0 == operation }
      if system(command(smaller) + " >/dev/null") != 0 { plan = smaller }
    }
    print("\(plan)\nTo repeat it: \(command(plan))")
    fflush(nil)
    _ = system(command(plan))
    exit(1)
  }
}
