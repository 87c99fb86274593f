/// Something that is measured by turns with others.
struct Contestant {
  let title: String

  /// Measures once, and returns the nanoseconds of one operation.
  let sample: () -> Double
}

extension Contestant {
  /// A contestant that repeats its work as often as fits into the time of a measurement.
  ///
  /// - Parameters:
  ///   - step: The work is repeated in multiples of this.
  ///   - operations: How many operations the work has, for each repetition.
  ///   - run: Does the work that often.
  init(
    _ title: String, effort: Effort, step: Int = 1, operations: Int = 1,
    run: @escaping (_ repetitions: Int) -> Void
  ) {
    var repetitions = step
    // Twice as much until a measurement is long enough to judge by; this also warms up.
    var time = Stopwatch.measure { run(repetitions) }
    while time < effort.sampleTime / 4, repetitions < 1 << 30 {
      repetitions *= 2
      time = Stopwatch.measure { run(repetitions) }
    }
    let fitting = Double(repetitions) * effort.sampleTime / max(time, 1)
    let chosen = max(1, Int(fitting / Double(step))) * step
    self.title = title
    sample = {
      Stopwatch.measure { run(chosen) } / (Double(chosen) * Double(operations))
    }
  }
}

extension [Contestant] {
  /// Measures all by turns, each round in another order, so that what disturbs the machine for a
  /// while disturbs all alike.
  func measure(rounds: Int) -> [Measurement] {
    var samples = [[Double]](repeating: [], count: count)
    for round in 0..<rounds {
      for turn in indices {
        let index = (turn + round) % count
        samples[index].append(self[index].sample())
      }
    }
    return samples.map { Measurement($0) }
  }
}
