/// What several measurements of the same thing say.
struct Measurement: Codable, Sendable {
  /// The one that was disturbed least.
  let best: Double

  let median: Double

  /// Sums up measurements, of which there must be one at least.
  init(_ samples: [Double]) {
    let sorted = samples.sorted()
    best = sorted[0]
    median =
      sorted.count % 2 == 1
      ? sorted[sorted.count / 2]
      : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
  }

  /// Something that was counted.
  init(exactly value: Double) {
    best = value
    median = value
  }
}
