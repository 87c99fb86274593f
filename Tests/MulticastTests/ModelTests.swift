import CoreModel
import Testing

/// Rules 1 to 7 of the contract all at once, against a simple model.
@Suite struct ModelTests {
  private func run(seed: UInt64, operations: Int, maximumOfClients: Int) {
    let model = Model(
      operations: operations, maximumOfClients: maximumOfClients,
      generator: SeededGenerator(seed: seed))
    do throws(Mismatch) {
      try model.run()
    } catch {
      Issue.record(
        "\(error), with seed \(seed), \(operations) operations and \(maximumOfClients) clients")
    }
  }

  @Test(arguments: [3, 10, 40, 200])
  func theDelegateDoesWhatTheModelDoes(maximumOfClients: Int) {
    let seeds = Process.rounds(100, quick: 10)
    for seed in 0..<seeds {
      run(seed: UInt64(seed), operations: 300, maximumOfClients: maximumOfClients)
    }
  }

  @Test func itDoesSoForALongTime() {
    let operations = Process.rounds(50_000, quick: 5000)
    run(seed: 1, operations: operations, maximumOfClients: 60)
  }
}
