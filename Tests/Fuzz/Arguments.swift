import CoreModel

/// What the command line asks for.
enum Arguments {
  case fuzz(seconds: Int, seed: UInt64)
  case `repeat`(Input)
  case help
}

extension Arguments {
  /// A command line that cannot be understood.
  struct UsageError: Error {
    let problem: String
  }

  static let usage = """
    Usage: Fuzz [--seconds N] [--seed N]
           Fuzz --bytes DIGITS

    Compares a delegate with a model of it that is too simple to be wrong, after each of many random
    operations. Ends with status 1 at the first difference, and shows the shortest bytes it could
    find that lead to it.

      --seconds N     Go on for N seconds; 10 unless given.
      --seed N        Begin with this number, to repeat what another run did.
      --bytes DIGITS  Perform what these bytes, in hexadecimal, stand for.
      -h, --help      Show this text.
    """

  /// Reads the arguments that follow the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var seconds = 10
    var seed = UInt64.random(in: 0...UInt64.max)
    var input: Input?
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--help", "-h":
        self = .help
        return
      case "--seconds":
        seconds = try Self.value(of: argument, rest.next(), "a whole number, 1 or more") {
          Int($0).flatMap { $0 > 0 ? $0 : nil }
        }
      case "--seed":
        seed = try Self.value(of: argument, rest.next(), "a whole number") { UInt64($0) }
      case "--bytes":
        input = try Self.value(of: argument, rest.next(), "pairs of hexadecimal digits") {
          Input($0)
        }
      default: throw UsageError(problem: "unknown argument \(argument.debugDescription)")
      }
    }
    self = input.map { .repeat($0) } ?? .fuzz(seconds: seconds, seed: seed)
  }

  private static func value<Value>(
    of option: String, _ text: String?, _ kind: String, _ read: (String) -> Value?
  ) throws(UsageError) -> Value {
    guard let text, let value = read(text) else {
      throw UsageError(
        problem: "\(option) needs \(kind)" + (text.map { ", not \($0.debugDescription)" } ?? ""))
    }
    return value
  }
}
