import CoreModel

/// What the command line asks for.
enum Arguments {
  case fuzz(Duration, seed: UInt64)
  case `repeat`(Input)
  case posts(Duration, seed: UInt64, programs: Int, without: Set<PostProgram.Feature>)
  case topics(Duration, seed: UInt64, without: Set<PostProgram.Feature>)
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
           Fuzz --topics [--seconds N] [--seed N] [--without moving]
           Fuzz --posts [--seconds N] [--seed N] [--programs N] [--without FEATURE]...

    Without --topics or --posts, compares a delegate with a model of it that is too simple to be wrong,
    after each of many random operations. Ends with status 1 at the first difference, and shows the
    shortest bytes it could find that lead to it.

    With --topics, several threads observe, replace, remove and post without a break. With --posts,
    random programs of clients and handlers that post run on several threads, in several homes. Both
    end with status 1 at the first fault. A seed repeats what the threads leave to it.

      --seconds N        Go on for N seconds; 10 unless given.
      --seed N           Begin with this number, to repeat what another run did.
      --bytes DIGITS     Perform what these bytes, in hexadecimal, stand for.
      --programs N       End after N programs.
      --without FEATURE  Leave this out of the programs: awaiting, latest, moving, removing or replacing.
      -h, --help         Show this text.
    """

  /// Reads the arguments that follow the program's name.
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var duration = Duration.seconds(10)
    var seed = UInt64.random(in: 0...UInt64.max)
    var kind = Kind.delegates
    var programs = Int.max
    var excluded: Set<PostProgram.Feature> = []
    var input: Input?
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--help", "-h":
        self = .help
        return
      case "--topics": kind = .topics
      case "--posts": kind = .posts
      case "--seconds":
        duration = .seconds(
          try Self.value(of: argument, rest.next(), "a whole number, 1 or more", Self.positive))
      case "--programs":
        programs = try Self.value(
          of: argument, rest.next(), "a whole number, 1 or more", Self.positive)
      case "--seed":
        seed = try Self.value(of: argument, rest.next(), "a whole number") { UInt64($0) }
      case "--without":
        excluded.insert(
          try Self.value(of: argument, rest.next(), "a feature") {
            PostProgram.Feature(rawValue: $0)
          })
      case "--bytes":
        input = try Self.value(of: argument, rest.next(), "pairs of hexadecimal digits") {
          Input($0)
        }
      default: throw UsageError(problem: "unknown argument \(argument.debugDescription)")
      }
    }
    switch (kind, input) {
    case (.delegates, nil): self = .fuzz(duration, seed: seed)
    case (.delegates, let input?): self = .repeat(input)
    case (.topics, _): self = .topics(duration, seed: seed, without: excluded)
    case (.posts, _):
      self = .posts(duration, seed: seed, programs: programs, without: excluded)
    }
  }

  private enum Kind {
    case delegates, topics, posts
  }

  private static func positive(_ text: String) -> Int? {
    Int(text).flatMap { $0 > 0 ? $0 : nil }
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
