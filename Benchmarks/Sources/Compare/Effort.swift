/// How much is measured.
struct Effort: Sendable {
  /// How often everything is measured, by turns.
  let rounds: Int

  /// How long one measurement should take, in nanoseconds.
  let sampleTime: Double

  /// The counts of clients in the tables of membership and memory.
  let membershipCounts: [Int]

  static let full = Effort(
    rounds: 15, sampleTime: 5e6, membershipCounts: [1_000, 10_000, 100_000])

  static let quick = Effort(
    rounds: 3, sampleTime: 5e5, membershipCounts: [1_000, 10_000])
}
