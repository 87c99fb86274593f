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

  /// Does what comes before the threads begin.
  required init(seed: UInt64) {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    lock.initialize(to: multicast_lock())
  }

  deinit { lock.deallocate() }

  /// Runs `body` after everything that was done before earlier calls of this. Otherwise, a thread need not know
  /// what another one has done.
  func synchronized<Result>(_ body: () -> Result) -> Result {
    multicast_acquire(lock)
    defer { multicast_release(lock) }
    return body()
  }

  /// Performs one operation of a thread.
  func perform(_ operation: String, _ random: inout SeededGenerator) {}

  /// Checks what must hold when all threads have ended.
  func finish() {}

  func fault(_ text: String) { faults.append(text) }

  func tick() -> Int {
    time += 1
    return time
  }
}

/// The operations of a program: an operation that is left out changes no other one.
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

  /// Runs the program in a process of its own.
  func start(schedules: Int, processor: Int = 0, quietly: Bool = false) -> Int32 {
    final class Work {
      let run: () -> Void
      init(_ run: @escaping () -> Void) { self.run = run }
    }
    let work = Work {
      if quietly { close(1) }
      SimulatedMain.begin()
      // Nobody waits for the runtime while it initializes these.
      extendLifetime((MarkedQueue.main, MainActor.shared, AwaitedCall.current))
      run(schedules: schedules)
    }
    return simulation_fork(
      { Unmanaged<Work>.fromOpaque($0).takeUnretainedValue().run() },
      Unmanaged.passRetained(work).toOpaque(), 20, Int32(processor))
  }

  func fails(schedules: Int) -> Bool {
    var status: Int32 = 0
    simulation_wait(start(schedules: schedules, quietly: true), &status)
    return status != 0
  }

  /// The program without the operations that it fails without.
  func reduced() -> Plan {
    var plan = self
    for operation in kept.reversed() {
      var smaller = plan
      smaller.kept.removeAll { $0 == operation }
      if smaller.fails(schedules: 500) { plan = smaller }
    }
    return plan
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
  static func main() {
    simulation_fix_addresses(CommandLine.unsafeArgv)
    var (kind, seed, programs, schedules, seconds) = ("", UInt64(1), 100, 10, Int.max)
    var kept: [Int]?
    var arguments = CommandLine.arguments.dropFirst()
    while let option = arguments.popFirst() {
      if Plan.kinds[option] != nil {
        kind = option
      } else if let value = arguments.popFirst() {
        switch option {
        case "--seed": seed = UInt64(value)!
        case "--programs": programs = Int(value)!
        case "--schedules": schedules = Int(value)!
        case "--seconds": (seconds, programs) = (Int(value)!, .max)
        case "--keep": kept = value.split(separator: ",").map { Int($0)! }
        default: usage()
        }
      }
    }
    guard Plan.kinds[kind] != nil else { usage() }
    search(kind, seed, programs, schedules, seconds, kept)
  }

  static func usage() -> Never {
    print(
      """
      usage: simulate (\(Plan.kinds.keys.sorted().joined(separator: " | "))) [--seed N]
        [--programs N | --seconds N] [--schedules N] [--keep OPERATION,...]
      """)
    exit(64)
  }

  /// Runs programs, one on each processor, until one fails.
  static func search(
    _ kind: String, _ seed: UInt64, _ programs: Int, _ schedules: Int, _ seconds: Int,
    _ kept: [Int]?
  ) {
    let begin = multicast_now()
    func elapsed() -> Double { Double(multicast_now() - begin) / 1e9 }
    var running: [Int32: (plan: Plan, processor: Int)] = [:]
    var free = Array(0..<sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    var (begun, ended) = (0, 0)
    while true {
      while let processor = free.last, begun < programs, elapsed() < Double(seconds) {
        let plan = Plan(kind, seed: seed &+ UInt64(begun), keeping: kept)
        running[plan.start(schedules: schedules, processor: processor)] = (plan, processor)
        free.removeLast()
        begun += 1
      }
      if running.isEmpty { break }
      var status: Int32 = 0
      guard let (plan, processor) = running.removeValue(forKey: simulation_wait(-1, &status)) else {
        break
      }
      free.append(processor)
      ended += 1
      if status == 0 { continue }
      print("\(kind) found a fault after \(elapsed()) s, in program \(plan.seed), status \(status)")
      fflush(nil)
      if getenv("BRIEFLY") != nil { exit(1) }
      let reduced = plan.reduced()
      print(
        "\(reduced)\nTo repeat it: simulate \(kind) --seed \(plan.seed) --programs 1 --schedules 500 --keep",
        reduced.kept.map(String.init).joined(separator: ","))
      fflush(nil)
      simulation_wait(reduced.start(schedules: 500), &status)
      exit(1)
    }
    let rate = Int(Double(ended * schedules) / elapsed())
    print("\(kind): \(ended) programs, \(ended * schedules) schedules, \(rate) a second: no fault")
  }
}
